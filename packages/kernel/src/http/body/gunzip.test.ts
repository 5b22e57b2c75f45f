import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gunzipBounded } from './gunzip.js';

const SMALL = Buffer.from('cpu usage=1\n');
/** Incompressible, so that it is large enough to be decoded in the thread pool. */
const LARGE = Buffer.from(Uint32Array.from({ length: 20_000 }, (_, i) => i * 2654435761).buffer);

describe('gunzipBounded', () => {
  it('decodes one member and several concatenated ones, small and large', async () => {
    for (const part of [SMALL, LARGE]) {
      const member = gzipSync(part);
      assert.deepEqual(Buffer.from(await gunzipBounded(member, 1e6)), part);
      const twice = Buffer.concat([member, member]);
      assert.deepEqual(Buffer.from(await gunzipBounded(twice, 1e6)), Buffer.concat([part, part]));
    }
  });

  it('accepts exactly the limit and rejects one byte more', async () => {
    for (const part of [SMALL, LARGE]) {
      const body = gzipSync(part);
      assert.equal((await gunzipBounded(body, part.length)).length, part.length);
      await assert.rejects(gunzipBounded(body, part.length - 1), {
        kind: 'body_too_large',
        message: `max request size (${part.length - 1} bytes) exceeded`,
      });
    }
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    await assert.rejects(gunzipBounded(bomb, 1_000_000), { kind: 'body_too_large' });
  });

  it('rejects data that is not gzip, and a truncated stream', async () => {
    await assert.rejects(gunzipBounded(SMALL, 1e6), { kind: 'gzip_corrupt' });
    await assert.rejects(gunzipBounded(gzipSync(SMALL).subarray(0, -4), 1e6), {
      kind: 'gzip_corrupt',
      message: /^error decoding gzip stream: ./,
    });
    await assert.rejects(gunzipBounded(gzipSync(LARGE).subarray(0, -4), 1e6), {
      kind: 'gzip_corrupt',
    });
  });
});
