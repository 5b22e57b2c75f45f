// Source: docs/SECURITY-DATA.md, "Imports, exports and packages": backups from untrusted sources.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import {
  checked,
  emptyFolder,
  makeEmptyFolder,
  piecesOf,
  readBackup,
  readManifest,
  writeChecked,
  writeManifest,
} from './backup-folder.js';

const STORE = 'plinth.db';
const file = (name: string) => ({ name, size_bytes: 0, crc32c: 0 });
const manifest = (...names: readonly string[]) => ({
  ...{ format_version: 1, id: 'i', created_at: 'now' },
  files: names.map(file),
});
/** Returns the problem of a manifest with these files in addition to the store. */
function faultOf(...names: readonly string[]): string {
  try {
    readManifest(JSON.stringify(manifest(STORE, ...names)), 'M');
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

it('lists each file of the backup once', () => {
  assert.equal(faultOf('a', 'b/c', 'b/d', '..a', 'a..', '...', 'ä b'), '');
  const outside = [
    '../a',
    'a/../../b',
    '..',
    '.',
    './a',
    'a/.',
    '/a',
    'a//b',
    'a/',
    '',
    'a\\b',
    '..\\a',
  ];
  for (const name of [...outside, 'a\nb', 'a\x7fb', 'a\0']) {
    assert.match(faultOf(name), /^M names a file outside of the backup/, JSON.stringify(name));
  }
  for (const name of ['backup.json', 'server.lock', 'server.pid']) {
    assert.equal(faultOf(name), `M names a file that is not part of a backup: ${name}`);
  }
  assert.equal(faultOf('a', 'a'), 'M names the same file twice: a');
  assert.equal(faultOf('a/b/c', 'a'), 'M names a file that is also a folder: a');
  assert.equal(faultOf('a', 'a/b'), 'M names a file that is also a folder: a');
});

it('has a format that this release can read', () => {
  const read = (text: string) => () => readManifest(text, 'M');
  assert.throws(
    read('{'),
    /^CommandFailed: M is corrupt: not valid JSON\n {2}If the backup was copied/,
  );
  assert.throws(
    read('{"format_version":1000000}'),
    /M uses backup format 1000000, but this release/,
  );
  for (const text of ['null', '{}', '{"format_version":"9999"}', '[]']) {
    assert.throws(read(text), /^CommandFailed: M is corrupt\n {2}If the backup was copied/, text);
  }
  assert.throws(
    read(JSON.stringify(manifest('a'))),
    /M is not a server backup: plinth\.db is missing/,
  );
});

it('is complete and unchanged', async () => {
  const folder = await temporaryFolder();
  await assert.rejects(readBackup(folder), /is not a complete backup/);
  await writeManifest(folder, manifest(STORE));
  assert.deepEqual((await readBackup(folder)).files, [file(STORE)]);
  assert.deepEqual(await readdir(folder), ['backup.json']);
  const path = join(folder, 'backup.json');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('"now"', '"new"'));
  await assert.rejects(readBackup(folder), /backup\.json is corrupt\n {2}If the backup was copied/);
});

it('checks size and checksum of the data it returns', async () => {
  // CRC-32C of "123456789". Source: RFC 3720, and the catalog of CRCs.
  const good = { name: 'a', size_bytes: 9, crc32c: 0xe3069283 };
  const through = async (expected: typeof good): Promise<string> => {
    const pieces = (async function* () {
      yield Buffer.from('1234');
      yield Buffer.from('56789');
    })();
    let text = '';
    for await (const piece of checked(pieces, expected)) text += Buffer.from(piece);
    return text;
  };
  assert.equal(await through(good), '123456789');
  await assert.rejects(through({ ...good, size_bytes: 8 }), /a is incomplete: 9 of 8 bytes/);
  await assert.rejects(through({ ...good, crc32c: 1 }), /a is corrupt: checksum mismatch/);
});

it('reads only regular files, not links or files behind links', async () => {
  const folder = await temporaryFolder();
  const backup = join(folder, 'backup');
  await mkdir(join(backup, 'in'), { recursive: true });
  await writeFile(join(folder, 'secret'), 'secret');
  await writeFile(join(backup, 'in/plain'), 'plain');
  await symlink(join(folder, 'secret'), join(backup, 'link'));
  await symlink(join(backup, 'in/plain'), join(backup, 'inner'));
  await symlink(folder, join(backup, 'over'));
  await symlink(backup, join(folder, 'other-name'));
  const read = async (from: string, name: string): Promise<string> => {
    let text = '';
    for await (const piece of piecesOf(from, name)) text += Buffer.from(piece);
    return text;
  };
  assert.equal(await read(backup, 'in/plain'), 'plain');
  assert.equal(await read(join(folder, 'other-name'), 'in/plain'), 'plain');
  for (const name of ['link', 'inner', 'over/secret', 'in']) {
    const message = `${join(backup, name)} is a link, is reached through a link, or is not a regular file; a backup must contain only regular files`;
    await assert.rejects(read(backup, name), { message }, name);
  }
  await assert.rejects(read(backup, 'none'), /^CommandFailed: cannot read .*none: ENOENT/);
});

it('accepts a folder that contains only a lock', async () => {
  const folder = await temporaryFolder();
  const inner = join(folder, 'a/b');
  await makeEmptyFolder(inner);
  await writeFile(join(inner, 'server.lock'), '');
  await makeEmptyFolder(inner);
  await writeFile(join(inner, 'x'), '');
  await assert.rejects(makeEmptyFolder(inner), /is not empty/);
  await makeEmptyFolder(inner, (names) => names.join() === 'x');
  await assert.rejects(
    makeEmptyFolder(inner, () => false),
    /is not empty/,
  );
  await assert.rejects(makeEmptyFolder(join(inner, 'x')), /cannot be created or read: EEXIST/);
  await writeFile(join(inner, 'kept'), '');
  await emptyFolder(inner, ['kept']);
  assert.deepEqual((await readdir(inner)).sort(), ['kept', 'server.lock']);
});

it('writes private files, and fails for unexpected content', async () => {
  const folder = await temporaryFolder();
  const pieces = async function* () {
    yield Buffer.from('123456789');
  };
  const seen: number[] = [];
  const path = join(folder, 'deep/file');
  const good = { name: 'file', size_bytes: 9, crc32c: 0xe3069283 };
  await writeChecked(path, pieces(), good, (size) => seen.push(size));
  assert.deepEqual([await readFile(path, 'utf8'), seen], ['123456789', [9]]);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const other = writeChecked(path, pieces(), { ...good, crc32c: 1 }, () => {});
  await assert.rejects(other, /is corrupt/);
  await assert.rejects(
    writeChecked(join(path, 'x'), pieces(), good, () => {}),
    /EEXIST|ENOTDIR/,
  );
});
