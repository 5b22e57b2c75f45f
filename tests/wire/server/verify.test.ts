// Source: docs/adr/0093: what is taken for known by size and time is compared as a whole by a command and by a backup.
import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { FLUSH_AT_ONCE, ServerProcess, untilInFiles, write } from '../../harness/index.js';

/** As a bad disk does it: neither size nor time tell. */
async function flipByte(path: string): Promise<void> {
  const { atime, mtime, size } = await stat(path);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size >> 1);
  await file.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, size >> 1);
  await file.close();
  await utimes(path, atime, mtime);
}

it('A byte that changed without size and time is found by verify and by a backup, with table and time range', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
  const dataDir = join(root, 'data');
  const flags = ['--without-auth', '--tsdb-internal-metrics-interval-ms', '0', ...FLUSH_AT_ONCE];
  const verify = () => runCli(['verify', '--data-dir', dataDir]);
  try {
    let server = await ServerProcess.start({ dataDir, flags });
    await write(server, { db: 'd' }, 't,host=a v=1 1700000000000000000');
    const inUse = await verify();
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /is in use by another process \(pid \d+/);
    await untilInFiles(server);
    assert.equal(await server.stop(), 0);

    const whole = await verify();
    assert.deepEqual([whole.code, whole.stderr], [0, '']);
    assert.match(whole.stdout, /: 2 files, \d+ bytes, whole\n$/);

    const folder = join(dataDir, 'objects', 'tsdb');
    const names = await readdir(folder, { recursive: true });
    const files = names.filter((name) => name.endsWith('.parquet'));
    for (const name of files) await flipByte(join(folder, name));
    const damaged = await verify();
    assert.equal(damaged.code, 1);
    for (const name of files) assert.ok(damaged.stderr.includes(name), damaged.stderr);
    assert.match(
      damaged.stderr,
      /damaged \(its checksum does not match\); .* it holds 1 rows of table d\.t from 2023-11-14T22:13:20\.000Z to 2023-11-14T22:13:20\.000Z/,
    );
    const index = /(\S+\.parquet) is damaged [^\n]*; it holds an index of table d\.t/.exec(
      damaged.stderr,
    )?.[1];
    assert.ok(index !== undefined, damaged.stderr);
    await flipByte(join(dataDir, 'objects', index)); // As it was: a start makes an index from its segments.

    server = await ServerProcess.start({ dataDir, flags });
    const copy = ['backup', '--host', server.url, '--to', join(root, 'copy')];
    const backup = await runCli(copy);
    assert.equal(backup.code, 1);
    assert.match(backup.stderr, /\.parquet/);
    assert.equal(await server.stop(), 0);
  } finally {
    await rm(root, { recursive: true });
  }
});

it('verify says what it needs, and what is no data folder', async () => {
  const both = await runCli(['verify', '--data-dir', '/tmp', '--from', '/tmp']);
  assert.deepEqual([both.code, both.stderr], [2, 'plinth: say either --from or --data-dir\n']);
  const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
  try {
    const none = await runCli(['verify', '--data-dir', root]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /is not a data folder: ENOENT/);
    assert.deepEqual(await readdir(root), []);
  } finally {
    await rm(root, { recursive: true });
  }
});
