import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { decodeSnappy, snappySize } from './snappy.js';

const LIMIT_BYTES = 1_000_000;
const decode = (...bytes: readonly number[]): string =>
  Buffer.from(decodeSnappy(Uint8Array.from(bytes), LIMIT_BYTES)).toString('latin1');
const of = (text: string): number[] => [...Buffer.from(text, 'latin1')];

/** Source: Snappy, `format_description.txt`. */
describe('decodeSnappy', () => {
  it('decodes literals of every length form', () => {
    assert.equal(decode(3, 2 << 2, ...of('abc')), 'abc');
    const long = 'x'.repeat(300);
    assert.equal(decode(0xac, 2, 61 << 2, 0x2b, 0x01, ...of(long)), long);
    assert.equal(decode(3, 63 << 2, 2, 0, 0, 0, ...of('abc')), 'abc');
    assert.equal(decode(0), '');
  });

  it('decodes copies of every offset form, and copies that overlap their source', () => {
    assert.equal(decode(8, 3 << 2, ...of('abcd'), 0b001, 4), 'abcdabcd');
    // An offset of 260 has its highest bits in the tag.
    const far = `abcd${'x'.repeat(256)}`;
    assert.equal(decode(0x88, 2, 61 << 2, 3, 1, ...of(far), 0b00100001, 4), `${far}abcd`);
    assert.equal(decode(7, 1 << 2, ...of('ab'), (4 << 2) | 2, 2, 0), 'abababa');
    assert.equal(decode(6, 2 << 2, ...of('abc'), (2 << 2) | 3, 3, 0, 0, 0), 'abcabc');
  });

  it('names the element that is corrupt', () => {
    const check = (message: RegExp, ...bytes: readonly number[]) =>
      assert.throws(() => decode(...bytes), { kind: 'snappy_corrupt', message });
    check(/the header does not contain a valid size, at byte 0$/);
    check(/the header does not contain a valid size, at byte 0$/, 0x80, 0x80, 0x80, 0x80, 0x80, 1);
    check(/a literal extends beyond the end of the body, at byte 1$/, 3, 2 << 2, 1);
    // A length of 2^32 - 5 must not be read as a negative one, which would never end.
    check(
      /a literal extends beyond the end of the body, at byte 1$/,
      5,
      0xfc,
      0xfa,
      0xff,
      0xff,
      0xff,
      1,
      2,
      3,
    );
    check(/a copy extends beyond the end of the body, at byte 3$/, 5, 0, 65, (3 << 2) | 2, 1);
    check(/a copy starts before the first byte, at byte 3$/, 5, 0, 65, 0b001, 2);
    check(/a copy starts before the first byte, at byte 3$/, 5, 0, 65, 0b001, 0);
    check(/the data exceeds the size that the header declares, at byte 3$/, 2, 0, 65, 0b001, 1);
    check(/the data exceeds the size that the header declares, at byte 1$/, 1, 1 << 2, 65, 66);
    check(/the data has 1 bytes, but the header declares 2, at byte 3$/, 2, 0, 65);
    check(/the size in the header is more than 32 times the compressed size/, 0xff, 0x7f, 0, 65);
  });

  it('refuses more bytes than the limit before it allocates them', () => {
    const bomb = snappyCompress(new Uint8Array(LIMIT_BYTES + 1));
    assert.equal(snappySize(bomb), LIMIT_BYTES + 1);
    assert.throws(() => decodeSnappy(bomb, LIMIT_BYTES), { kind: 'body_too_large' });
    assert.equal(decodeSnappy(bomb, LIMIT_BYTES + 1).length, LIMIT_BYTES + 1);
  });

  it('decodes what another implementation encodes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 3000 }),
      fc
        .array(fc.constantFrom('abcd', 'job', 'instance', '\0'), { maxLength: 2000 })
        .map((parts) => Uint8Array.from(Buffer.from(parts.join('')))),
    );
    fc.assert(
      fc.property(bytes, (given) =>
        assert.deepEqual(
          Buffer.from(decodeSnappy(snappyCompress(given), LIMIT_BYTES)),
          Buffer.from(given),
        ),
      ),
    );
  });

  it('ends on random bytes, with bytes of the stated size or an error', () => {
    const header = fc.integer({ min: 0, max: 127 });
    fc.assert(
      fc.property(header, fc.uint8Array({ maxLength: 200 }), (sizeBytes, rest) => {
        const given = Uint8Array.from([sizeBytes, ...rest]);
        try {
          assert.equal(decodeSnappy(given, LIMIT_BYTES).length, sizeBytes);
        } catch (error) {
          assert.equal((error as { readonly kind?: string }).kind, 'snappy_corrupt');
        }
      }),
      { numRuns: 5000 },
    );
  });
});
