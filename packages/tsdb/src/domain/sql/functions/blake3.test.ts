import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blake3 } from './blake3.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('blake3', () => {
  it('agrees with the published digests of short texts', () => {
    const check = (text: string, digest: string) =>
      assert.equal(hex(blake3(Buffer.from(text))), digest, text);
    check('', 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262');
    check('abc', '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85');
  });

  it('agrees with the published test vectors of several chunks', () => {
    const check = (length: number, digest: string) =>
      assert.equal(
        hex(blake3(Uint8Array.from({ length }, (_, i) => i % 251))),
        digest,
        `${length}`,
      );
    check(1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7');
    check(1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444');
    check(2048, 'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a');
    check(3072, 'b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2');
  });
});
