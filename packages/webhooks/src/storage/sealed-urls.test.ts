import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SecretBox, SystemClock, SystemRandom } from '@plinth/kernel';
import { SealedUrls } from './sealed-urls.js';

const withKey = (key: string): SealedUrls =>
  new SealedUrls(new SecretBox(Buffer.from(key), new SystemRandom(new SystemClock())));
const URL_OF_RECEIVER = 'https://hooks.example/T0/a-key?x=1';

it('decrypts its own URLs, and reads records from before URLs were encrypted', () => {
  const urls = withKey('one');
  assert.equal(urls.open(urls.seal(URL_OF_RECEIVER, 1), 1), URL_OF_RECEIVER);
  assert.equal(urls.open(URL_OF_RECEIVER, 1), URL_OF_RECEIVER);
  for (let length = 0; length < 100; length += 1) {
    assert.ok(!urls.seal('x'.repeat(length), 1).includes(':'));
  }
});

it('returns a mask for URLs encrypted with another master key or for another app', () => {
  const sealed = withKey('one').seal(URL_OF_RECEIVER, 1);
  assert.equal(withKey('two').open(sealed, 1), '***');
  assert.equal(withKey('one').open(sealed, 2), '***');
});
