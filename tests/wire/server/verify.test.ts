// Source: docs/adr/0093: files that are known by size and time are compared completely by a command and by a backup.
import assert from 'node:assert/strict';
import {
  cp,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import {
  FLUSH_AT_ONCE,
  ServerInProcess,
  StartFailed,
  untilInFiles,
  WITH_SAMPLE_DATA,
  write,
} from '../../harness/index.js';

/** Like a bad disk: size and modification time stay the same. */
async function flipByte(path: string): Promise<void> {
  const { atime, mtime, size } = await stat(path);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, size >> 1);
  await file.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, size >> 1);
  await file.close();
  await utimes(path, atime, mtime);
}

it('verify finds a changed byte in the game data', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
  const dataDir = join(root, 'data');
  try {
    const flags = ['--services', 'gamedata', '--without-auth'];
    const server = await ServerInProcess.start({ dataDir, flags, env: WITH_SAMPLE_DATA });
    assert.equal(await server.stop(), 0);
    const verify = () => runCli(['verify', '--data-dir', dataDir]);
    assert.equal((await verify()).code, 0);
    const folder = join(dataDir, 'objects', 'gamedata', 'lines');
    const [name = ''] = await readdir(folder);
    await flipByte(join(folder, name));
    const { code, stderr } = await verify();
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`game data: object ${name} is corrupt: .*; restore a backup`));
    assert.doesNotMatch(stderr, /--repair/, 'a repair does not change the file');
  } finally {
    await rm(root, { recursive: true });
  }
});

it('verify and backup find a changed byte, with table and time range, although size and time are unchanged', async () => {
  const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
  const dataDir = join(root, 'data');
  const flags = [
    ...['--services', 'tsdb', '--without-auth'],
    ...['--tsdb-internal-metrics-interval-ms', '0', ...FLUSH_AT_ONCE],
  ];
  const verify = () => runCli(['verify', '--data-dir', dataDir]);
  try {
    let server = await ServerInProcess.start({ dataDir, flags });
    await write(server, { db: 'd' }, 't,host=a v=1 1700000000000000000');
    const inUse = await verify();
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /is in use by another process \(pid \d+/);
    await untilInFiles(server);
    assert.equal(await server.stop(), 0);

    const whole = await verify();
    assert.deepEqual([whole.code, whole.stderr], [0, '']);
    assert.match(whole.stdout, /: [34] files, \d+ bytes, intact\n$/); // Two row files, and the files of the log.

    const folder = join(dataDir, 'objects', 'tsdb');
    const names = await readdir(folder, { recursive: true });
    const files = names.filter((name) => name.endsWith('.parquet'));
    for (const name of files) await flipByte(join(folder, name));
    const damaged = await verify();
    assert.equal(damaged.code, 1);
    for (const name of files) assert.ok(damaged.stderr.includes(name), damaged.stderr);
    assert.match(
      damaged.stderr,
      /corrupt \(its checksum does not match\); .* it contains 1 rows of table d\.t from 2023-11-14T22:13:20\.000Z to 2023-11-14T22:13:20\.000Z/,
    );
    const index =
      /(\S+\.parquet) is corrupt [^\n]*; it contains the series index of table d\.t/.exec(
        damaged.stderr,
      )?.[1];
    assert.ok(index !== undefined, damaged.stderr);
    await flipByte(join(dataDir, 'objects', index)); // Restored: startup builds the index from its segments.

    server = await ServerInProcess.start({ dataDir, flags });
    const copy = ['backup', '--host', server.url, '--to', join(root, 'copy')];
    const backup = await runCli(copy);
    assert.equal(backup.code, 1);
    assert.match(backup.stderr, /\.parquet/);
    assert.equal(await server.stop(), 0);
  } finally {
    await rm(root, { recursive: true });
  }
});

it('verify reports missing options, and folders that are not data folders', async () => {
  const both = await runCli(['verify', '--data-dir', '/tmp', '--from', '/tmp']);
  assert.deepEqual([both.code, both.stderr], [2, 'plinth: use either --from or --data-dir\n']);
  const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
  try {
    const none = await runCli(['verify', '--data-dir', root]);
    assert.equal(none.code, 1);
    assert.match(
      none.stderr,
      /cannot read .*plinth\.db: ENOENT.*; use the path of a data folder, or, if the file was lost, restore a backup or a snapshot/,
    );
    assert.deepEqual(await readdir(root), []);
  } finally {
    await rm(root, { recursive: true });
  }
});

describe('verify reads the log like startup', () => {
  const FLAGS = ['--without-auth', '--services=tsdb', '--tsdb-internal-metrics-interval-ms=0'];

  /** The start of each record, by the sizes in docs/formats/commit-log.md; the last one is the end of the records. */
  async function recordOffsets(path: string): Promise<number[]> {
    const bytes = await readFile(path);
    let at = 64;
    const offsets = [at];
    while (bytes.toString('latin1', at, at + 4) === 'PREC') {
      at += 32 + bytes.readUInt32LE(at + 8);
      offsets.push(at);
    }
    return offsets;
  }

  async function flip(path: string, offset: number, count: number): Promise<void> {
    const bytes = await readFile(path);
    for (let at = offset; at < offset + count; at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    await writeFile(path, bytes);
  }

  /** The newest file of a log with 30 records. */
  async function writeLog(dataDir: string, end: 'stop' | 'kill'): Promise<string> {
    const server = await ServerInProcess.start({ dataDir, flags: FLAGS });
    try {
      for (let n = 1; n <= 30; n++) await write(server, { db: 'd' }, `m v=${n}i ${n}`);
    } finally {
      if (end === 'stop') assert.equal(await server.stop(), 0);
      else await server.kill();
    }
    const folder = join(dataDir, 'tsdb-log');
    const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.log')).slice(-1);
    return join(folder, name);
  }

  const withFolder = async (work: (dataDir: string) => Promise<void>): Promise<void> => {
    const root = await mkdtemp(join(tmpdir(), 'plinth-verify-'));
    try {
      await work(join(root, 'data'));
    } finally {
      await rm(root, { recursive: true });
    }
  };

  it('and finds a corrupt record, in the middle and at the end, that prevents the start', async () => {
    await withFolder(async (dataDir) => {
      const log = await writeLog(dataDir, 'stop');
      const intact = `${dataDir}.intact`;
      await cp(dataDir, intact, { recursive: true });
      const offsets = await recordOffsets(log);
      for (const record of [offsets.length - 11, offsets.length - 2]) {
        await rm(dataDir, { recursive: true });
        await cp(intact, dataDir, { recursive: true });
        const offset = offsets[record] ?? 0;
        await flip(log, offset + 40, 4);
        const run = await runCli(['verify', '--data-dir', dataDir]);
        assert.equal(run.code, 1);
        assert.ok(run.stderr.includes(`${log} at offset ${offset}`), run.stderr);
        assert.match(run.stderr, /the server refuses this file at startup/);
        assert.match(run.stderr, /--repair/);
        await assert.rejects(ServerInProcess.start({ dataDir, flags: FLAGS }), (error) => {
          assert.ok(error instanceof StartFailed);
          assert.ok(error.message.includes(`${log} at offset ${offset}`), error.message);
          return true;
        });
      }
    });
  });

  it('reports a tail that may have been acknowledged with its own exit code, and changes nothing', async () => {
    await withFolder(async (dataDir) => {
      const log = await writeLog(dataDir, 'kill');
      const offset = (await recordOffsets(log)).at(-2) ?? 0;
      await flip(log, offset + 40, 4);
      const before = await stateOf(dataDir);
      const run = await runCli(['verify', '--data-dir', dataDir]);
      assert.deepEqual([run.code, run.stdout], [5, ''], run.stderr);
      assert.ok(run.stderr.includes(`warning: ${log}: `), run.stderr);
      assert.match(run.stderr, /no other file is corrupt, but acknowledged data may be lost/);
      assert.match(run.stderr, /, according to the corrupt record\.\n/);
      const note = `bytes at offset ${offset} are an incomplete or corrupt last record, which the next start quarantines. If the server acknowledged it, its rows are lost. Content: 1 rows of table d.m from `;
      assert.ok(run.stderr.includes(note), run.stderr);
      assert.deepEqual(await stateOf(dataDir), before);
    });
  });

  it('finds a flipped bit in the last transaction of plinth.db-wal, which a start quarantines', async () => {
    await withFolder(async (dataDir) => {
      await writeLog(dataDir, 'kill');
      const wal = join(dataDir, 'plinth.db-wal');
      const bytes = await readFile(wal);
      const at = bytes.length - 100; // in the last page
      await writeFile(wal, bytes.with(at, (bytes[at] as number) ^ 1));
      const before = await stateOf(dataDir);
      const run = await runCli(['verify', '--data-dir', dataDir]);
      assert.deepEqual([run.code, run.stdout], [5, ''], run.stderr);
      assert.ok(run.stderr.includes(`warning: ${wal}: `), run.stderr);
      assert.match(
        run.stderr,
        /last transaction, which the server ignores at the next start\. .*List the tokens/,
      );
      assert.deepEqual(await stateOf(dataDir), before);
      await using server = await ServerInProcess.start({ dataDir, flags: FLAGS });
      const line = server.logged(
        'last transaction in plinth.db-wal is incomplete or corrupt, and was ignored; if it was acknowledged, its changes are lost',
      );
      assert.deepEqual([line?.['level'], line?.['quarantined']], ['warn', `${wal}.tail.damaged`]);
      assert.match(String(line?.['remedy']), /List the tokens/);
      const aside = await runCli(['aside', '--data-dir', dataDir]);
      assert.ok(aside.stdout.includes(`${wal}.tail.damaged: `), aside.stdout);
    });
  });

  it('names the fix for a corrupt journal of plinth.db', async () => {
    await withFolder(async (dataDir) => {
      await writeLog(dataDir, 'kill');
      await flip(join(dataDir, 'plinth.db-wal'), 32 + 24 + 100, 1);
      const run = await runCli(['verify', '--data-dir', dataDir]);
      assert.equal(run.code, 1);
      assert.match(run.stderr, /plinth\.db-wal at offset 32: .*\n.*--repair[\s\S]*List the tokens/);
    });
  });

  it('changes no file beside an empty journal of plinth.db', async () => {
    await withFolder(async (dataDir) => {
      await writeLog(dataDir, 'stop');
      await writeFile(join(dataDir, 'plinth.db-wal'), '');
      const before = await stateOf(dataDir);
      const run = await runCli(['verify', '--data-dir', dataDir]);
      assert.deepEqual([run.code, run.stderr], [0, '']);
      assert.deepEqual(await stateOf(dataDir), before);
    });
  });

  it('notices a missing master key, and one that is cut', async () => {
    await withFolder(async (dataDir) => {
      await writeLog(dataDir, 'stop');
      const key = join(dataDir, 'master.key');
      await rm(key);
      const missing = await runCli(['verify', '--data-dir', dataDir]);
      assert.equal(missing.code, 0, missing.stderr);
      assert.ok(missing.stderr.includes(`note: ${key} is missing: restore`), missing.stderr);
      await writeFile(key, 'short');
      const cut = await runCli(['verify', '--data-dir', dataDir]);
      assert.equal(cut.code, 1);
      assert.ok(cut.stderr.includes(`the key in ${key} has 5 characters`), cut.stderr);
    });
  });

  it('finds a flipped bit in each of the small files, with its fix, and changes nothing', async () => {
    await withFolder(async (dataDir) => {
      const flags = ['--without-auth', '--tsdb-internal-metrics-interval-ms=0'];
      const server = await ServerInProcess.start({ dataDir, flags });
      await write(server, { db: 'd' }, 'm v=1i 1');
      const deletion = new URLSearchParams({ db: 'd', q: 'DROP MEASUREMENT m' });
      await server.http.send(`/query?${deletion}`, { method: 'POST' });
      const copy = ['backup', '--host', server.url, '--to', join(dataDir, '..', 'copy')];
      assert.equal((await runCli(copy)).code, 0); // Creates folder.id.
      assert.equal(await server.stop(), 0);
      const verify = () => runCli(['verify', '--data-dir', dataDir]);
      const whole = await verify();
      assert.deepEqual([whole.code, whole.stderr], [0, '']);
      for (const [name, at, message] of [
        [
          'master.key',
          10,
          /master\.key: the key cannot decrypt the stored secrets; restore the file/,
        ],
        ['accounts/keys.json', 60, /keys\.json is corrupt; restore a copy of it, for example from/],
        ['plinth.version', 1, /plinth\.version is corrupt; delete the file/],
        ['folder.id', 3, /folder\.id is corrupt; restore the file from a copy, or delete it/],
        ['audit/audit.jsonl', 0, /jsonl contains corrupt entries \(1, the first in line 1\)/],
      ] as const) {
        const path = join(dataDir, name);
        const bytes = await readFile(path);
        // In letters, digits and punctuation, this bit leads to another visible character.
        await writeFile(
          path,
          bytes.with(at, (bytes[at] as number) ^ (2 ** (name === 'folder.id' ? 6 : 1))),
        );
        const before = await stateOf(dataDir);
        const run = await verify();
        assert.equal(run.code, 1, name);
        assert.match(run.stderr, message);
        assert.doesNotMatch(run.stderr, /--repair/, 'a repair does not change the file');
        assert.deepEqual(await stateOf(dataDir), before);
        await writeFile(path, bytes);
      }
      const audit = join(dataDir, 'audit', 'audit.jsonl');
      const entries = await readFile(audit);
      const inText = entries.indexOf('"action":"') + 10;
      await writeFile(audit, entries.with(inText, 0xff));
      const notUtf8 = await verify();
      assert.equal(notUtf8.code, 1, notUtf8.stderr);
      assert.match(notUtf8.stderr, /jsonl contains corrupt entries \(1, the first in line 1\)/);
      await writeFile(audit, entries);
      await writeFile(audit, `${await readFile(audit, 'utf8')}{"time":"2026-`);
      const cut = await verify();
      assert.equal(cut.code, 0, cut.stderr);
      assert.match(
        cut.stderr,
        /note: .*audit\.jsonl contains incomplete entries \(1\), which the server skips/,
      );
    });
  });

  it('and restore name a fix for a corrupt backup', async () => {
    await withFolder(async (dataDir) => {
      const server = await ServerInProcess.start({ dataDir, flags: FLAGS });
      const copy = join(dataDir, '..', 'copy');
      assert.equal((await runCli(['backup', '--host', server.url, '--to', copy])).code, 0);
      assert.equal(await server.stop(), 0);
      await flip(join(copy, 'plinth.db'), 5000, 1);
      const fix =
        /plinth\.db is corrupt: checksum mismatch\n {2}If the backup was copied to this folder, copy it again\. Otherwise, use another backup/;
      const verified = await runCli(['verify', '--from', copy]);
      assert.equal(verified.code, 1);
      assert.match(verified.stderr, fix);
      const restored = await runCli(['restore', '--from', copy, '--data-dir', `${copy}.restored`]);
      assert.equal(restored.code, 1);
      assert.match(restored.stderr, fix);
    });
  });

  it('changes no file of a stopped server', async () => {
    await withFolder(async (dataDir) => {
      await writeLog(dataDir, 'stop');
      const before = await stateOf(dataDir);
      const run = await runCli(['verify', '--data-dir', dataDir]);
      assert.deepEqual([run.code, run.stderr], [0, '']);
      assert.deepEqual(await stateOf(dataDir), before);
    });
  });

  /** Names with times of change. */
  async function stateOf(folder: string): Promise<readonly string[]> {
    const names = await readdir(folder, { recursive: true });
    const states = names.map(async (name) => {
      const { ino, mtimeMs, size } = await lstat(join(folder, name));
      return `${name} ${ino} ${mtimeMs} ${size}`;
    });
    return (await Promise.all(states)).sort();
  }
});
