import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CallFaults } from './call-faults.js';
import { SeededRandom } from './seeded-random.js';

/** Which of ten calls failed, and which took effect. */
async function tenCalls(faults: CallFaults): Promise<{ failed: number[]; done: number[] }> {
  const [failed, done]: [number[], number[]] = [[], []];
  for (let call = 1; call <= 10; call++) {
    await faults.around('a', async () => void done.push(call)).catch(() => void failed.push(call));
  }
  return { failed, done };
}

const without = (...left: number[]): number[] =>
  Array.from({ length: 10 }, (_, i) => i + 1).filter((call) => !left.includes(call));

it('fails the given call, once or repeatedly, with or without its effect', async () => {
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

it('fails a share of all calls, some of them after they took effect', async () => {
  const faults = new CallFaults();
  faults.failSome({ share: 0.5, random: new SeededRandom(1), doneKinds: ['a'] });
  const { failed, done } = await tenCalls(faults);
  assert.ok(failed.length > 1 && failed.length < 10);
  assert.ok(failed.some((call) => done.includes(call)));
  assert.ok(failed.some((call) => !done.includes(call)));
  faults.heal();
  assert.deepEqual(await tenCalls(faults), { failed: [], done: without() });
});
