// Source: README, "Command line"; docs/formats/backup.md.
import assert from 'node:assert/strict';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CliRun, runCli } from '../../harness/cli.js';
import { assertEmpty, query, rows, ServerInProcess, write } from '../../harness/index.js';

let server: ServerInProcess;
let folder = '';
before(async () => {
  server = await ServerInProcess.start({
    flags: ['--without-auth', '--tsdb-buffer-flush-age-ms', '200'],
  });
  folder = await mkdtemp(join(tmpdir(), 'plinth-backup-'));
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function plinth(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli([...args, '--host', server.url]);
  assert.equal(code, 0, stderr);
  return stdout;
}
const fails = async (...args: string[]): Promise<CliRun> => {
  const run = await runCli(args);
  assert.notEqual(run.code, 0, run.stdout);
  return run;
};

describe('plinth database, table and cache', () => {
  it('manage databases, tables and caches', async () => {
    assert.equal(
      await plinth('database', 'create', 'home', '--retention-period', '30d'),
      'database home created\n',
    );
    assert.match(await plinth('database', 'list', '--format', 'csv'), /^home$/m);
    await plinth('database', 'update', 'home', '--retention-period', 'none');
    await plinth('database', 'update', 'home', '--integer-fields', 'float');
    await plinth('database', 'create', 'sensors', '--integer-fields', 'float');
    const { text } = await server.http.send('/ops/v1/tsdb/databases');
    const { databases } = JSON.parse(text) as { databases: Record<string, unknown>[] };
    assert.deepEqual(
      databases.map(({ name, integer_fields, retention_ns }) => [
        name,
        integer_fields,
        retention_ns,
      ]),
      [
        ['_internal', 'integer', '604800000000000'],
        ['home', 'float', null],
        ['sensors', 'float', null],
      ],
    );
    assert.match((await fails('database', 'update', 'home')).stderr, /--integer-fields/);
    assert.match(
      (await fails('database', 'create', 'x', '--integer-fields', 'double')).stderr,
      /Allowed choices are integer, float/,
    );
    await plinth(
      'table',
      'create',
      '-d',
      'home',
      'readings',
      '--tags',
      'room,floor',
      '--fields',
      'temp:float64,note:utf8',
    );
    assert.match(await plinth('table', 'list', '-d', 'home', '-f', 'csv'), /^readings$/m);
    await plinth(
      'cache',
      'create',
      '-d',
      'home',
      '--kind',
      'last',
      '--table',
      'readings',
      '--columns',
      'room',
      '--name',
      'l',
    );
    await plinth(
      'cache',
      'create',
      '-d',
      'home',
      '--kind',
      'distinct',
      '--table',
      'readings',
      '--columns',
      'floor,room',
    );
    assert.match(
      await plinth('cache', 'list', '-d', 'home', '-f', 'jsonl'),
      /"name":"readings_floor_room_distinct_cache"/,
    );
    await plinth(
      'cache',
      'delete',
      '-d',
      'home',
      '--kind',
      'last',
      '--table',
      'readings',
      '--name',
      'l',
    );
    await plinth('table', 'delete', '-d', 'home', 'readings');
    await plinth('table', 'undelete', '-d', 'home', 'readings');
    await plinth('database', 'delete', 'home', '--hard-delete', 'default');
    await plinth('database', 'undelete', 'home');
    const run = await fails('database', 'delete', 'nobody', '--host', server.url);
    assert.equal(
      run.stderr,
      'plinth: the server returned 404: the requested resource was not found: nobody\n',
    );
  });
});

describe('plinth export', () => {
  it('writes line protocol that restores the same table, Parquet and CSV', async () => {
    const lines = [
      'odd\\ name,ta\\ g=v\\,1 i=9223372036854775807i,u=18446744073709551615u,f=0.1,b=true,s="a \\"q\\" \\\\ ü" 1700000000123456789',
      'odd\\ name f=-1e-300 5',
      'odd\\ name f=-0.0 -7',
      'odd\\ name,ta\\ g=v i=-9223372036854775808i 6',
    ];
    assertEmpty(await write(server, { db: 'source' }, lines.join('\n')));
    const file = join(folder, 'odd.lp');
    assert.match(
      await plinth('export', '-d', 'source', '--table', 'odd name', '--format', 'lp', '-o', file),
      /odd\.lp: \d+ bytes/,
    );
    // The file declares nanoseconds, so that small timestamps are read correctly.
    await plinth('write', '-d', 'copy', file);
    const q = 'SELECT * FROM "odd name" ORDER BY time';
    const original = await query(server, { db: 'source', q, format: 'csv' });
    assert.equal(original.split('\n').length, 6);
    assert.equal(await query(server, { db: 'copy', q, format: 'csv' }), original);
    const csv = join(folder, 'odd.csv');
    await plinth('export', '-d', 'source', '--query', q, '--format', 'csv', '-o', csv);
    assert.equal(await readFile(csv, 'utf8'), original);
    // Integers stay exact, in a new table and in an existing one.
    for (const db of ['from_csv', 'copy']) {
      await plinth('import', '-d', db, '--table', 'odd name', '--tag', 'ta g', csv);
      assert.equal(await query(server, { db, q, format: 'csv' }), original);
    }
    const parquet = join(folder, 'odd.parquet');
    await plinth('export', '-d', 'source', '--table', 'odd name', '-o', parquet);
    assert.equal((await readFile(parquet)).subarray(0, 4).toString(), 'PAR1');
    await plinth('import', '-d', 'third', '--table', 'odd name', '--tag', 'ta g', parquet);
    assert.equal(await query(server, { db: 'third', q, format: 'csv' }), original);
    const missing = await fails(
      'import',
      '-d',
      'third',
      '--table',
      'x',
      '--tag',
      'nope',
      parquet,
      '--host',
      server.url,
    );
    assert.match(missing.stderr, /column 'nope' not found in the file; columns: b, f, i/);
    const again = await fails(
      'export',
      '-d',
      'source',
      '--table',
      'odd name',
      '-o',
      parquet,
      '--host',
      server.url,
    );
    assert.match(again.stderr, /cannot write/);
  });
});

describe('plinth backup and restore', () => {
  it('restore everything acknowledged before the backup, taken under load', async () => {
    const db = 'saved';
    const startSec = 1_735_689_600;
    let written = 0;
    const put = async (): Promise<void> => {
      const lines = Array.from(
        { length: 200 },
        () => `m,host=h${written % 7} n=${written}i ${startSec + written++}`,
      );
      assertEmpty(await write(server, { db, parameters: 'precision=s' }, lines.join('\n')));
    };
    for (let i = 0; i < 20; i++) await put();
    // Contains a point written twice, a deleted table and a cache.
    assertEmpty(
      await write(server, { db, parameters: 'precision=s' }, `m,host=h0 again=1i ${startSec}`),
    );
    await plinth('cache', 'create', '-d', db, '--kind', 'last', '--table', 'm');
    const acknowledged = written;
    let isOver = false;
    const load = (async () => {
      while (!isOver) await put();
    })();
    const to = join(folder, 'monday');
    const output = await plinth('backup', '--to', to);
    isOver = true;
    await load;
    assert.match(output, /monday: \d+ files, \d+ bytes/);
    assert.equal((await stat(join(to, 'plinth.db'))).mode & 0o777, 0o600);
    assert.equal((await stat(join(to, 'master.key'))).mode & 0o777, 0o600);

    const dataDir = join(folder, 'restored');
    const restored = await runCli(['restore', '--from', to, '--data-dir', dataDir]);
    assert.equal(restored.code, 0, restored.stderr);
    const other = await ServerInProcess.start({ dataDir });
    try {
      const [row] = (await rows(
        other,
        db,
        'SELECT count(*) AS c, max(n) AS last, min(n) AS first FROM m',
      )) as { c: number; last: number; first: number }[];
      assert.ok(
        row !== undefined && row.c >= acknowledged && row.c % 200 === 0,
        JSON.stringify(row),
      );
      assert.deepEqual([row.first, row.last], [0, row.c - 1]);
      const q = `SELECT host, count(*) AS c, sum(n) AS s FROM m WHERE n < ${acknowledged} GROUP BY host ORDER BY host`;
      assert.equal(
        await query(other, { db, q, format: 'csv' }),
        await query(server, { db, q, format: 'csv' }),
      );
      assert.deepEqual(await rows(other, db, 'SELECT again FROM m WHERE n = 0'), [{ again: 1 }]);
      assert.deepEqual(await rows(other, db, "SELECT count(*) AS c FROM last_cache('m')"), [
        { c: 7 },
      ]);
      // The copy runs as its own server, and survives a kill.
      assertEmpty(
        await write(other, { db, parameters: 'precision=s' }, `m,host=new n=1i ${startSec}`),
      );
      await other.kill();
      const again = await ServerInProcess.start({ dataDir });
      assert.deepEqual(await rows(again, db, "SELECT n FROM m WHERE host = 'new'"), [{ n: 1 }]);
      assert.deepEqual(await rows(again, db, 'SELECT count(*) AS c FROM m'), [{ c: row.c + 1 }]);
      await again.stop();
    } finally {
      await other.kill();
    }
    // No backup remains on the server.
    assert.deepEqual(await readdir(join(server.dataDir, 'backup-temp')).catch(() => []), []);
  });

  it('refuse non-empty folders, incomplete backups and corrupt files', async () => {
    const to = join(folder, 'tuesday');
    await plinth('backup', '--to', to);
    assert.match((await fails('backup', '--to', to, '--host', server.url)).stderr, /is not empty/);
    const text = await readFile(join(to, 'backup.json'), 'utf8');
    const { files } = JSON.parse(text) as { files: { name: string }[] };
    const segment = files.find(({ name }) => name.endsWith('.parquet'))?.name ?? '';
    const file = await open(join(to, segment), 'r+');
    await file.write(Buffer.from('x'), 0, 1, 10);
    await file.close();
    const target = join(folder, 'never');
    assert.match(
      (await fails('restore', '--from', to, '--data-dir', target)).stderr,
      /checksum mismatch/,
    );
    // The restore removed its files, so that it can be repeated. The lock file may remain.
    assert.deepEqual(await readdir(target), ['server.lock']);
    assert.match(
      (await fails('restore', '--from', to, '--data-dir', target)).stderr,
      /checksum mismatch/,
    );
    const outside = join(folder, 'outside');
    await rename(join(to, segment), outside);
    await symlink(outside, join(to, segment));
    assert.match(
      (await fails('restore', '--from', to, '--data-dir', target)).stderr,
      /\.parquet is a link, is reached through a link, or is not a regular file; a backup must contain only regular files/,
    );
    await rm(join(to, segment));
    const part = join(folder, 'part');
    await mkdir(part);
    const incomplete = await fails('restore', '--from', to, '--data-dir', part);
    assert.match(
      incomplete.stderr,
      /^plinth: cannot read .*\.parquet: ENOENT[^\n]*\n {2}If the backup was copied[^\n]*\n$/,
    );
    assert.deepEqual(await readdir(part), ['server.lock']);
    const empty = join(folder, 'empty');
    await mkdir(empty);
    assert.match(
      (await fails('restore', '--from', empty, '--data-dir', join(folder, 'x'))).stderr,
      /not a complete backup/,
    );
  });

  it('require an admin token once tokens exist', async () => {
    const guarded = await ServerInProcess.start({ flags: [] });
    try {
      const run = await fails('backup', '--to', join(folder, 'wednesday'), '--host', guarded.url);
      assert.equal(run.code, 4);
    } finally {
      await guarded.close();
    }
  });
});
