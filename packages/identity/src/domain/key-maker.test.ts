// Source: docs/SECURITY-CREDENTIALS.md, "Names and keys": keys are made one at a time, and a bounded number waits.
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { it } from 'node:test';
import { KeyMaker } from './key-maker.js';

it('lets 64 wait at once, and refuses the others until they are done', async () => {
  const maker = new KeyMaker();
  const refuse = () => Promise.reject(new RangeError('taken'));
  const first = maker.make('pkcs8', async () => undefined);
  // Keys cost tenths of a second: the others are refused when their turn comes.
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

it('makes none for who is refused when the turn has come, and goes on', async () => {
  const maker = new KeyMaker();
  const refused = maker.make('pkcs8', () => Promise.reject(new RangeError('taken')));
  const next = maker.make('pkcs8', async () => undefined);
  await assert.rejects(refused, RangeError);
  assert.match((await next).pem, /PRIVATE KEY/);
});
