import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SecretBox, SystemClock, SystemRandom } from '@plinth/kernel';
import { EncryptedUrls } from './encrypted-urls.js';

const withKey = (key: string): EncryptedUrls =>
  new EncryptedUrls(new SecretBox(Buffer.from(key), new SystemRandom(new SystemClock())));
const URL_OF_RECEIVER = 'https://hooks.example/T0/a-key?x=1';

it('decrypts its own URLs, and reads records from before URLs were encrypted', () => {
  const urls = withKey('one');
  assert.equal(urls.decrypt(urls.encrypt(URL_OF_RECEIVER, 1), 1), URL_OF_RECEIVER);
  assert.equal(urls.decrypt(URL_OF_RECEIVER, 1), URL_OF_RECEIVER);
  for (let length = 0; length < 100; length += 1) {
    assert.ok(!urls.encrypt('x'.repeat(length), 1).includes(':'));
  }
});

it('returns a mask for URLs encrypted with another master key or for another app', () => {
  const sealed = withKey('one').encrypt(URL_OF_RECEIVER, 1);
  assert.equal(withKey('two').decrypt(sealed, 1), '***');
  assert.equal(withKey('one').decrypt(sealed, 2), '***');
});
