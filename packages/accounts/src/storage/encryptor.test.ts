import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { Encryptor } from './encryptor.js';

it('digests strings by HMAC-SHA256', () => {
  const texts = ['', 'a', 'äöü 店 🎈', 'x'.repeat(63), 'x'.repeat(64), 'y'.repeat(100_000)];
  for (const keySize of [0, 1, 32, 64]) {
    const digestKey = randomBytes(keySize);
    const encryptor = new Encryptor({ current: 'k1', keys: new Map(), digestKey });
    for (const text of texts) {
      const expected = createHmac('sha256', digestKey).update(text).digest('hex');
      assert.equal(encryptor.digest(text), expected, `${keySize} bytes, ${text.length} characters`);
    }
  }
});
