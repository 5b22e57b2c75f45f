// Source: tsdb-http, "Preset token file".
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { NodeFileSystem } from '@plinth/kernel';
import { readTokenFile } from './token-file.js';

const TOKEN = `apiv3_${'a'.repeat(86)}`;

it('holds a token, and refuses what is none without a word of it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-token-file-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'token.json');
  const read = async (text: string) => {
    await writeFile(path, text);
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
    [padded(65_537), /too large/],
    [`{"token":"${TOKEN}"`, /not valid JSON/],
    ['[]', /expected \{"token": text/],
    [JSON.stringify({ ...named, name: '' }), /expected \{"token": text/],
    [JSON.stringify({ ...named, name: 'a\u0085b' }), /expected \{"token": text/],
    [JSON.stringify({ ...named, expiry_millis: 8.64e15 + 1 }), /expected \{"token": text/],
    [JSON.stringify({ token: 'secret' }), /does not start with apiv3_/],
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
