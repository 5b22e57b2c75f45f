import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeededRandom } from '../testing/seeded-random.js';
import { SecretBox, SecretUnreadable } from './secret-box.js';

it('decrypts its own ciphertext, and rejects changed, moved or foreign ciphertext', () => {
  const box = new SecretBox(Buffer.alloc(32, 7), new SeededRandom(1));
  const sealed = box.seal('It’s a secret', 'hook 1');
  assert.equal(Buffer.from(sealed).includes('secret'), false);
  assert.equal(box.open(sealed, 'hook 1'), 'It’s a secret');
  assert.notDeepEqual(box.seal('It’s a secret', 'hook 1'), sealed);
  assert.throws(() => box.open(sealed, 'hook 2'), SecretUnreadable);
  const other = new SecretBox(Buffer.alloc(32, 8), new SeededRandom(1));
  assert.throws(() => other.open(sealed, 'hook 1'), SecretUnreadable);
  for (let index = 0; index < sealed.length; index++) {
    const changed = Uint8Array.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.throws(() => box.open(changed, 'hook 1'), SecretUnreadable);
  }
  assert.throws(() => box.open(sealed.subarray(0, 20), 'hook 1'), SecretUnreadable);
});
