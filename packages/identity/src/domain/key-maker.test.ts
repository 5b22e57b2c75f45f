// Source: docs/SECURITY.md, "Credentials": keys are made one at a time, and a bounded number waits.
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { it } from 'node:test';
import { KeyMaker } from './key-maker.js';

it('makes pairs for 64 at once and refuses the others until it is done', async () => {
  const maker = new KeyMaker();
  const asked = Array.from({ length: 66 }, () => maker.make('pkcs8', async () => undefined));
  const refused = asked.slice(64);
  for (const one of refused) await assert.rejects(one, { kind: 'keys_overloaded' });
  const [first] = await Promise.all(asked.slice(0, 64));
  assert.ok(first !== undefined);
  const key = createPublicKey(createPrivateKey(first.pem));
  assert.ok(key.equals(first.publicKey));
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
