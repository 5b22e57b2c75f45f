import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CallFaults } from './call-faults.js';

/** Which of ten calls fail, and which have done their work. */
async function tenCalls(faults: CallFaults): Promise<{ failed: number[]; done: number[] }> {
  const [failed, done]: [number[], number[]] = [[], []];
  for (let call = 1; call <= 10; call++) {
    await faults.around('a', async () => void done.push(call)).catch(() => void failed.push(call));
  }
  return { failed, done };
}

const without = (...left: number[]): number[] =>
  Array.from({ length: 10 }, (_, i) => i + 1).filter((call) => !left.includes(call));

it('fails the call that is named, once or for a while, with its effect or without it', async () => {
  const faults = new CallFaults();
  faults.fail({ kind: 'b' });
  faults.fail({ kind: 'a', at: 2 });
  faults.fail({ kind: 'a', at: 5, count: 2, effect: 'done' });
  assert.deepEqual(await tenCalls(faults), { failed: [2, 5, 6], done: without(2) });
  faults.fail({ kind: 'a', at: 9, count: Number.POSITIVE_INFINITY });
  assert.deepEqual(await tenCalls(faults), { failed: [9, 10], done: without(9, 10) });
  assert.throws(() => faults.before('a'), { kind: 'a' });
  faults.heal();
  faults.before('a');
  faults.before('b');
  assert.deepEqual(
    [...faults.counts],
    [
      ['a', 22],
      ['b', 1],
    ],
  );
});
