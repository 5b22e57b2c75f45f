// Source: rate-limits, section 14.2. One atomic script call makes each decision.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchedScripts, type Send } from './batched-scripts.js';
import type { ScriptResponse } from './redis-admission.js';

/** Returns the first argument of each request. */
function recorder(): { readonly calls: (readonly string[])[]; readonly send: Send } {
  const calls: (readonly string[])[] = [];
  return {
    calls,
    async send(keys, args) {
      calls.push(keys);
      return keys
        .filter((_, index) => index % 2 === 0)
        .map((_, index): ScriptResponse => [args[index * 2] ?? -1, 0]);
    },
  };
}

const askMany = (together: BatchedScripts, count: number): Promise<ScriptResponse[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => together.run([`p${i}`, `b${i}`], [i, 0])));

describe('AskedTogether', () => {
  it('sends the requests of one event-loop tick in order, and returns each result', async () => {
    const { calls, send } = recorder();
    const together = new BatchedScripts(send);
    assert.deepEqual(await askMany(together, 3), [
      [0, 0],
      [1, 0],
      [2, 0],
    ]);
    assert.deepEqual(calls, [['p0', 'b0', 'p1', 'b1', 'p2', 'b2']]);
    await askMany(together, 1);
    assert.equal(calls.length, 2);
  });

  it('sends at most 64 at a time', async () => {
    const { calls, send } = recorder();
    const responses = await askMany(new BatchedScripts(send), 150);
    assert.deepEqual(
      responses.map(([used]) => used),
      Array.from({ length: 150 }, (_, i) => i),
    );
    assert.deepEqual(
      calls.map((keys) => keys.length / 2),
      [64, 64, 22],
    );
  });

  it('rejects all requests of a failed call, and continues with the next', async () => {
    const { send } = recorder();
    let isDown = true;
    const together = new BatchedScripts((keys, args, onLate) =>
      isDown ? Promise.reject(new Error('down')) : send(keys, args, onLate),
    );
    const asked = [together.run(['p', 'b'], [1, 0]), together.run(['q', 'c'], [2, 0])];
    for (const each of asked) await assert.rejects(each, /down/);
    isDown = false;
    assert.deepEqual(await together.run(['p', 'b'], [3, 0]), [3, 0]);
  });

  it('sends one call per identity when identities are on different shards', async () => {
    const { calls, send } = recorder();
    const refused = new Error("CROSSSLOT Keys in request don't hash to the same slot");
    const together = new BatchedScripts((keys, args, onLate) =>
      new Set(keys.filter((_, index) => index % 2 === 1)).size > 1
        ? Promise.reject(refused)
        : send(keys, args, onLate),
    );
    for (let round = 0; round < 2; round++) {
      const asked = ['a', 'b', 'a'].map((who, i) => together.run([`p${i}`, who], [i, 0]));
      assert.deepEqual(await Promise.all(asked), [
        [0, 0],
        [1, 0],
        [2, 0],
      ]);
    }
    assert.deepEqual(calls.slice(2), [
      ['p0', 'a', 'p2', 'a'],
      ['p1', 'b'],
    ]);
  });

  it('reports decisions that arrive after the timeout', async () => {
    const heard: unknown[] = [];
    const together = new BatchedScripts(
      async (keys, args, onLate) => {
        setImmediate(() => onLate([[7, 9], new Error('of this one alone')]));
        throw new Error(`silent about ${keys.length} keys and ${args.length} numbers`);
      },
      (...late) => heard.push(late),
    );
    for (const each of [together.run(['p', 'b'], [1, 0]), together.run(['q', 'c'], [2, 0])]) {
      await assert.rejects(each, /silent/);
    }
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(heard, [
      [
        ['p', 'b'],
        [1, 0],
        [7, 9],
      ],
    ]);
  });
});
