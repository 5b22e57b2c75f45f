// Source: docs/SECURITY-CREDENTIALS.md, "Names and keys": keys are generated one at a time, with a
// bounded queue.
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { it } from 'node:test';
import { KeyMaker } from './key-maker.js';

it('queues up to 64 requests and rejects others until the queue drains', async () => {
  const maker = new KeyMaker();
  const refuse = () => Promise.reject(new RangeError('taken'));
  const first = maker.make('pkcs8', async () => undefined);
  // Generating a key takes tenths of a second; these requests fail when they reach the front of the
  // queue.
  const waiting = Array.from({ length: 63 }, () => maker.make('pkcs8', refuse));
  const ends = Promise.allSettled(waiting);
  for (let more = 0; more < 2; more++) {
    await assert.rejects(maker.make('pkcs8', refuse), { kind: 'keys_overloaded' });
  }
  const { pem, publicKey } = await first;
  assert.ok(createPublicKey(createPrivateKey(pem)).equals(publicKey));
  for (const end of await ends)
    assert.ok(end.status === 'rejected' && end.reason instanceof RangeError);
  assert.match(
    (await maker.make('pkcs1', async () => undefined)).pem,
    /^-----BEGIN RSA PRIVATE KEY-----/,
  );
});

it('generates no key if the check rejects, and continues', async () => {
  const maker = new KeyMaker();
  const refused = maker.make('pkcs8', () => Promise.reject(new RangeError('taken')));
  const next = maker.make('pkcs8', async () => undefined);
  await assert.rejects(refused, RangeError);
  assert.match((await next).pem, /PRIVATE KEY/);
});
