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

  it('is the sum bit by bit, wherever the bytes begin and however many they are', () => {
    const memory = Uint8Array.from(
      { length: 2048 },
      (_, index) => (index * 167 + (index >> 3)) & 255,
    );
    const lengths = [511, ...Array.from({ length: 20 }, (_, more) => 512 + more), 1500, 2000];
    for (let begin = 0; begin < 9; begin += 1) {
      for (const length of lengths) {
        const bytes = memory.subarray(begin, begin + length);
        assert.equal(crc32c([bytes]), bitByBit(bytes), `${length} bytes from ${begin}`);
        assert.equal(crc32c([bytes.subarray(5)], crc32c([bytes.subarray(0, 5)])), bitByBit(bytes));
      }
    }
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

/** RFC 3720, section 12.1: the remainder of division by the polynomial 0x1EDC6F41, here with reversed bits. */
function bitByBit(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  return ~sum >>> 0;
}
