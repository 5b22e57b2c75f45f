// Source: tsdb-http, "Preset token file".
import assert from 'node:assert/strict';
import { chmod, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { NodeFileSystem, SystemClock, SystemRandom } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { readTokenFile, writeTokenFile } from './token-file.js';

const TOKEN = `apiv3_${'a'.repeat(86)}`;

it('reads a token, and its errors never quote an invalid one', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'token.json');
  const read = async (text: string) => {
    await writeFile(path, text, { mode: 0o600 });
    return await readTokenFile(new NodeFileSystem(), path);
  };
  const { text, name, expiryMs } = await read(JSON.stringify({ token: TOKEN }));
  assert.deepEqual([text, name, expiryMs], [TOKEN, '_admin', undefined]);
  const named = { token: TOKEN, name: 'ops', expiry_millis: 5 };
  assert.deepEqual(await read(JSON.stringify(named)), { text: TOKEN, name: 'ops', expiryMs: 5 });
  const endless = await read(JSON.stringify({ ...named, expiry_millis: null }));
  assert.equal(endless.expiryMs, undefined);
  const padded = (size: number) => JSON.stringify(named).padEnd(size);
  assert.equal((await read(padded(65_536))).name, 'ops');
  for (const [content, why] of [
    [padded(65_537), /larger than 65536 bytes/],
    [`{"token":"${TOKEN}"`, /not valid JSON/],
    ['[]', /expected \{"token": string/],
    [JSON.stringify({ ...named, name: '' }), /expected \{"token": string/],
    [JSON.stringify({ ...named, name: 'a\u0085b' }), /expected \{"token": string/],
    [JSON.stringify({ ...named, expiry_millis: 8.64e15 + 1 }), /expected \{"token": string/],
    [JSON.stringify({ token: 'secret' }), /does not start with apiv3_/],
    [JSON.stringify({ token: 'apiv3_' }), /does not start with apiv3_/],
    [JSON.stringify({ token: 'apiv3_secret' }), /has 6 characters after apiv3_; at least 32/],
    [JSON.stringify({ token: `apiv3_${'a'.repeat(31)}` }), /has 31 characters after apiv3_/],
  ] as const) {
    await assert.rejects(read(content), (error: Error) => {
      assert.equal(Reflect.get(error, 'kind'), 'token_file_invalid');
      assert.match(error.message, why);
      assert.ok(error.message.includes(path));
      assert.doesNotMatch(error.message, /aaaa|secret/);
      return true;
    });
  }
  await rm(path);
  await assert.rejects(readTokenFile(new NodeFileSystem(), path), {
    kind: 'token_file_invalid',
    message: /ENOENT/,
  });
});

const NO_MODES = process.platform === 'win32' ? 'rights are those of the folder above' : false;

describe('permissions of the token file', { skip: NO_MODES }, () => {
  for (const [mode, isAccepted] of [
    [0o600, true],
    [0o400, true],
    [0o640, true],
    [0o644, false],
    [0o604, false],
    [0o602, false],
    [0o777, false],
  ] as const) {
    it(`${mode.toString(8)} is ${isAccepted ? 'accepted' : 'refused'}`, async () => {
      const folder = await temporaryFolder();
      const path = join(folder, 'token.json');
      await writeFile(path, JSON.stringify({ token: TOKEN }));
      await chmod(path, mode);
      const reading = readTokenFile(new NodeFileSystem(), path);
      if (isAccepted) assert.equal((await reading).text, TOKEN);
      else {
        await assert.rejects(reading, (error: Error) => {
          assert.equal(Reflect.get(error, 'kind'), 'token_file_invalid');
          assert.match(error.message, new RegExp(`mode 0${mode.toString(8)}.*chmod 600`));
          return true;
        });
      }
    });
  }
});

describe('writeTokenFile', () => {
  it('creates a file that only its owner can read, and never replaces one', async () => {
    const folder = await temporaryFolder();
    const files = new NodeFileSystem();
    const random = new SystemRandom(new SystemClock());
    const path = join(folder, 'token.json');
    await writeTokenFile(files, random, { path });
    const made = await readTokenFile(files, path);
    assert.match(made.text, /^apiv3_[A-Za-z0-9_-]{86}$/);
    assert.deepEqual([made.name, made.expiryMs], ['_admin', undefined]);
    if (process.platform !== 'win32') assert.equal((await stat(path)).mode & 0o777, 0o600);
    await assert.rejects(writeTokenFile(files, random, { path }), { code: 'EEXIST' });
    assert.equal((await readTokenFile(files, path)).text, made.text);
    const other = join(folder, 'other.json');
    await writeTokenFile(files, random, { path: other, name: 'ops', expiryMs: 5 });
    const { name, expiryMs } = await readTokenFile(files, other);
    assert.deepEqual([name, expiryMs], ['ops', 5]);
    const wrong = { path: join(folder, 'wrong.json'), name: 'a\nb' };
    await assert.rejects(writeTokenFile(files, random, wrong), { kind: 'token_file_invalid' });
    await assert.rejects(stat(wrong.path), { code: 'ENOENT' });
  });
});
