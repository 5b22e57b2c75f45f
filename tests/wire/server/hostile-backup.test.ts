// Source: docs/formats/backup.md: what readers refuse in untrusted backups.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

interface File {
  readonly name: string;
  readonly size_bytes: number;
  readonly crc32c: number;
}

const emptyFile = (name: string): File => ({ name, size_bytes: 0, crc32c: 0 });
const STORE = emptyFile('plinth.db');

let count = 0;
const root = await temporaryFolder();

/** A folder with a manifest whose digest is correct. */
async function backupOf(files: readonly File[], leftOut: readonly string[] = []): Promise<string> {
  count += 1;
  const folder = join(root, `backup-${count}`);
  await mkdir(folder);
  const manifest = {
    format_version: 2,
    id: 'an-id',
    created_at: '2026-01-01T00:00:00.000Z',
    left_out: leftOut,
    files,
  };
  const sha256 = createHash('sha256').update(JSON.stringify(manifest)).digest('hex');
  for (const { name } of files) {
    if (!name.includes('/')) await writeFile(join(folder, name), '').catch(() => undefined);
  }
  await writeFile(join(folder, 'backup.json'), JSON.stringify({ ...manifest, sha256 }));
  return folder;
}

/** A refused backup creates nothing. */
async function refused(files: readonly File[], message: RegExp): Promise<void> {
  const from = await backupOf(files);
  const to = join(root, `data-${count}`);
  for (const args of [
    ['verify', '--from', from],
    ['restore', '--from', from, '--data-dir', to],
  ]) {
    const run = await runCli(args);
    assert.equal(run.code, 1, args[0]);
    assert.match(run.stderr, message);
  }
  assert.equal((await readdir(root)).includes(`data-${count}`), false);
}

describe('an untrusted manifest', () => {
  it('is refused without files, or without the store', async () => {
    await refused([], /is not a server backup: plinth\.db is missing\n$/);
    await refused([emptyFile('master.key')], /plinth\.db is missing\n$/);
  });

  it('is refused if a file is listed twice, or is also a folder', async () => {
    await refused([STORE, STORE], /names the same file twice: plinth\.db\n$/);
    await refused(
      [STORE, emptyFile('a'), emptyFile('a/b')],
      /names a file that is also a folder: a\n$/,
    );
  });

  it('is refused if it lists files of the commands themselves', async () => {
    for (const name of ['restore-under-way', 'server.lock', 'backup.json']) {
      await refused(
        [STORE, emptyFile(name)],
        new RegExp(`that is not part of a backup: ${name}\\n$`),
      );
    }
  });

  it('cannot control the terminal', async () => {
    const order = '\u001b]0;owned\u0007\u009b2J';
    const outside = await backupOf([STORE, emptyFile(`x${order}`)]);
    const named = await runCli(['verify', '--from', outside]);
    assert.match(named.stderr, /outside of the backup: x\\x1b\]0;owned\\x07\\x9b2J\n$/);
    const told = await runCli(['verify', '--from', await backupOf([STORE], [`all${order}`])]);
    assert.equal(told.code, 0);
    assert.match(told.stderr, /not in the backup: all\\x1b\]0;owned\\x07\\x9b2J\n$/);
  });
});

describe('a data folder to restore into', () => {
  it('is refused inside the backup, by any path', async () => {
    const from = await backupOf([STORE]);
    const link = join(root, 'link');
    await symlink(from, link);
    for (const to of [from, join(from, 'data'), join(link, 'new', 'data')]) {
      const run = await runCli(['restore', '--from', from, '--data-dir', to]);
      assert.equal(run.code, 1);
      assert.match(run.stderr, /is inside the backup .*; use a folder outside the backup\n$/);
    }
    assert.deepEqual((await readdir(from)).sort(), ['backup.json', 'plinth.db']);
  });

  it('is refused with a clear message if a file has its name', async () => {
    const from = await backupOf([STORE]);
    const run = await runCli(['restore', '--from', from, '--data-dir', join(from, 'plinth.db')]);
    assert.match(run.stderr, /is inside the backup/);
    const file = join(root, 'file');
    await writeFile(file, '');
    const taken = await runCli(['restore', '--from', from, '--data-dir', file]);
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /^plinth: the folder .*file cannot be created or read: E[A-Z]+/);
  });
});
