import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyPool } from './body-pool.js';

describe('BodyPool', () => {
  it('reuses released memory, and never for two bodies at once', () => {
    const pool = new BodyPool();
    const first = pool.take(100_000);
    const second = pool.take(100_000);
    assert.ok(first !== undefined && second !== undefined);
    assert.notEqual(first.buffer, second.buffer);
    pool.release(first.subarray(0, 10));
    const third = pool.take(131_072);
    assert.deepEqual([third?.buffer === first.buffer, third?.length], [true, 131_072]);
    assert.notEqual(pool.take(70_000)?.buffer, first.buffer);
  });

  it('ignores foreign memory and keeps no more than its limit', () => {
    const pool = new BodyPool();
    const foreign = Buffer.alloc(65_536);
    pool.release(foreign);
    assert.notEqual(pool.take(65_536)?.buffer, foreign.buffer);
    const large = [1, 2, 3].map(() => pool.take(16 * 1024 * 1024) ?? foreign);
    for (const body of large) pool.release(body);
    const again = [1, 2, 3].map(() => pool.take(16 * 1024 * 1024)?.buffer);
    assert.equal(again.filter((buffer) => large.some((body) => body.buffer === buffer)).length, 2);
  });

  it('frees copied pieces, except shared and short ones', () => {
    const pool = new BodyPool();
    const whole = Buffer.allocUnsafeSlow(65_536);
    const part = Buffer.allocUnsafeSlow(65_536).subarray(0, 65_535);
    const short = Buffer.allocUnsafeSlow(1_000);
    const shared = Buffer.from(new SharedArrayBuffer(65_536));
    for (const piece of [whole, part, short, shared]) pool.free(piece);
    const sizes = [whole, part, short, shared].map(({ length }) => length);
    assert.deepEqual(sizes, [0, 65_535, 1_000, 65_536]);
  });
});
