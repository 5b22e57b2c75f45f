// Source: RFC 3720, appendix B.4, and the check value of CRC-32/ISCSI ("123456789").
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32c } from './crc32c.js';

describe('crc32c', () => {
  it('gives the published sums', () => {
    const check = (bytes: Uint8Array, sum: number) => assert.equal(crc32c([bytes]), sum);
    check(Buffer.from('123456789'), 0xe3069283);
    check(new Uint8Array(32), 0x8a9136aa);
    check(new Uint8Array(32).fill(0xff), 0x62a8ab43);
    check(
      Uint8Array.from({ length: 32 }, (_, index) => index),
      0x46dd794e,
    );
    check(new Uint8Array(0), 0);
  });

  it('does not depend on how the bytes are cut into parts', () => {
    const bytes = Buffer.from('a longer line of text that is cut at every place');
    for (let at = 0; at <= bytes.length; at += 1) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)];
      assert.equal(crc32c(parts), crc32c([bytes]));
      assert.equal(crc32c([bytes.subarray(at)], crc32c([bytes.subarray(0, at)])), crc32c([bytes]));
    }
  });
});
