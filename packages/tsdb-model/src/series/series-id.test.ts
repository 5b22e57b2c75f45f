import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { packTags } from './packed-tags.js';
import { seriesId } from './series-id.js';

function idOf(seed: bigint, keys: string[], values: string[]): bigint {
  const id = { low: 0, high: 0 };
  const words = new Int32Array(BigInt64Array.of(seed).buffer);
  seriesId({ low: words[0] ?? 0, high: words[1] ?? 0 }, packTags(keys, values), id);
  return (BigInt(id.high) << 32n) | BigInt(id.low >>> 0);
}

describe('seriesId', () => {
  it('is MurmurHash3 x86-128 of the canonical tag set, 63 bits', () => {
    // Computed with the reference implementation's Python binding (mmh3 5) over the documented byte form.
    const check = (seed: bigint, keys: string[], values: string[], id: bigint): void =>
      assert.equal(idOf(seed, keys, values), id, `${seed} ${keys.join()}`);
    check(0n, [], [], 5148371408780832321n);
    check(1n, ['host'], ['a'], 1102546341393448444n);
    check(99n, ['host', 'region'], ['server-17', 'eu-west-1'], 6044343114677132654n);
    check(2n ** 63n - 1n, ['z', 'ä'], ['', '日本'], 3495558930405063042n);
    check(7n, ['k'], ['x'.repeat(100)], 7146762129720766798n);
    check(-5n, ['a', 'b', 'c'], ['1', '2', '3'], 1490749711856411899n);
  });

  it('does not depend on earlier hashes', () => {
    const before = idOf(3n, ['host'], ['b']);
    idOf(3n, ['long'], ['y'.repeat(10_000)]);
    assert.equal(idOf(3n, ['host'], ['b']), before);
  });
});
