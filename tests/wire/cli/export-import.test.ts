// Source: docs/formats/backup.md and README, "Command line": exported data can be imported again, or the command
// reports the loss.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLI, type CliRun, runCli } from '../../harness/cli.js';
import { assertEmpty, query, SharedServer, temporaryFolder, write } from '../../harness/index.js';

const DB = 'exported';
const ALL = 'SELECT * FROM m ORDER BY time';

let server: SharedServer;
let folder = '';
before(async () => {
  server = await SharedServer.get();
  folder = await temporaryFolder();
  const lines = [
    'm,h=a v=1.5,s="" 1',
    'm,h=b v=1e999,s="x" 2',
    'm,h=c v=-1e999 3',
    'm,h=d v=-0.0,s="a,\\"b\\"" 4',
    'm,h=e v=1e300 5',
    'm v=5e-324,s="" 6',
  ];
  assertEmpty(await write(server, { db: DB, parameters: 'precision=ns' }, lines.join('\n')));
});
after(() => server.close());

const run = (...args: readonly string[]): Promise<CliRun> =>
  runCli([...args, '--host', server.url]);

async function succeed(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(...args);
  assert.equal(code, 0, stderr);
}

/** Distinguishes empty strings from NULL. */
const tableOf = (db: string): Promise<string> => query(server, { db, q: ALL, format: 'csv_exact' });

it('infinities, negative zero and empty strings survive every format', async () => {
  const expected = await tableOf(DB);
  // Manual check: infinity stays infinite, and an empty string is not NULL.
  assert.equal(
    expected,
    [
      'h,s,time,v',
      'a,"",1970-01-01T00:00:00.000000001,1.5',
      'b,x,1970-01-01T00:00:00.000000002,inf',
      'c,,1970-01-01T00:00:00.000000003,-inf',
      'd,"a,""b""",1970-01-01T00:00:00.000000004,-0.0',
      'e,,1970-01-01T00:00:00.000000005,1e300',
      ',"",1970-01-01T00:00:00.000000006,5e-324',
      '',
    ].join('\n'),
  );
  for (const format of ['lp', 'csv', 'parquet']) {
    const file = join(folder, `all.${format}`);
    await succeed('export', '-d', DB, '--table', 'm', '-f', format, '-o', file);
    if (format === 'lp') await succeed('write', '-d', format, file);
    else await succeed('import', '-d', format, '--table', 'm', '--tag', 'h', file);
    assert.equal(await tableOf(format), expected, format);
  }
});

it('a Parquet file may contain columns with any name', async () => {
  const file = join(folder, 'names.parquet');
  const names = ['_fields', '_', '__', 'line', 'rows', 'stated'];
  const columns = names.map((name, i) => `${i} AS "${name}"`).join(', ');
  await succeed('export', '-d', DB, '--query', `SELECT time, ${columns} FROM m`, '-o', file);
  await succeed('import', '-d', 'names', '--table', 'm', file);
  const q = `SELECT ${names.map((name) => `sum("${name}")`).join(', ')} FROM m`;
  const [, sums] = (await query(server, { db: 'names', q, format: 'csv' })).split('\n');
  assert.equal(sums, '0,6,12,18,24,30');
});

it('CSV of a query keeps empty strings, although the response of the server omits them', async () => {
  const file = join(folder, 'query.csv');
  const q = 'SELECT s FROM m WHERE v = 1.5';
  await succeed('export', '-d', DB, '--query', q, '-f', 'csv', '-o', file);
  assert.equal(await readFile(file, 'utf8'), 's\n""\n');
  assert.equal(await query(server, { db: DB, q, format: 'csv' }), 's\n\n');
});

it('an import with unsupported values writes nothing and counts them, unless --lossy is set', async () => {
  const file = join(folder, 'nan.parquet');
  const q = `SELECT time, h, CASE WHEN h = 'a' THEN CAST('NaN' AS DOUBLE) ELSE v END AS v,
             CASE WHEN h = 'a' THEN 1 END AS other, CASE WHEN h = 'b' THEN NULL ELSE v END AS w FROM m WHERE h IN ('a', 'b')
             UNION ALL SELECT time, h, NULL AS v, NULL AS other, NULL AS w FROM m WHERE h = 'c'`;
  await succeed('export', '-d', DB, '--query', q, '-o', file);
  const refused = await run('import', '-d', 'nan', '--table', 'm', '--tag', 'h', file);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /line protocol does not support NaN values \(1\) or rows without a field or time \(1\)/,
  );
  assert.equal((await server.http.send(`/api/v3/query_sql?db=nan&q=SELECT+1`)).status, 404);
  await succeed('import', '-d', 'nan', '--table', 'm', '--tag', 'h', '--lossy', file);
  assert.equal(
    await query(server, { db: 'nan', q: 'SELECT h, v FROM m ORDER BY h', format: 'csv' }),
    'h,v\na,\nb,inf\n',
  );
});

/** A server that starts its responses and never completes them. */
async function stall() {
  const stalling = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' });
    response.write('a,b\n');
  });
  stalling.listen(0, '127.0.0.1');
  await once(stalling, 'listening');
  const { port } = stalling.address() as { port: number };
  return { stalling, host: `http://127.0.0.1:${port}` };
}

it('a truncated query response leaves an existing file unchanged', async () => {
  const { stalling, host } = await stall();
  try {
    const file = join(folder, 'cut.csv');
    for (const before of [undefined, 'older\n']) {
      if (before !== undefined) await writeFile(file, before);
      const args = ['query', '-d', DB, 'SELECT 1', '-f', 'csv', '-o', file, '--host', host];
      const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' });
      const exited = once(child, 'exit');
      await once(stalling, 'request');
      await sleep(1000);
      stalling.closeAllConnections();
      assert.deepEqual(await exited, [1, null]);
      const left = (await readdir(folder)).filter((each) => each.startsWith('cut.csv'));
      assert.deepEqual(left, before === undefined ? [] : ['cut.csv']);
      if (before !== undefined) assert.equal(await readFile(file, 'utf8'), before);
    }
  } finally {
    stalling.closeAllConnections();
    stalling.close();
  }
  const linked = join(folder, 'linked.csv');
  const target = join(folder, 'target.csv');
  await writeFile(target, 'older\n', { mode: 0o640 });
  await symlink(target, linked);
  await succeed('query', '-d', DB, 'SELECT 1 AS a', '-f', 'csv', '-o', linked);
  assert.equal(await readFile(target, 'utf8'), 'a\n1\n');
  assert.equal((await stat(target)).mode & 0o777, 0o640);
  // A device or pipe is not replaced by a file.
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [piped] = await Promise.all([
    readFile(pipe, 'utf8'),
    succeed('query', '-d', DB, 'SELECT 1 AS a', '-f', 'csv', '-o', pipe),
  ]);
  assert.equal(piped, 'a\n1\n');
});

it('a killed export, or one whose server disappears, leaves no file under the final name', async () => {
  const { stalling, host } = await stall();
  try {
    const name = 'killed.csv';
    const file = join(folder, name);
    const args = ['export', '-d', DB, '--query', 'SELECT 1', '-f', 'csv', '-o', file];
    const start = () =>
      spawn(process.execPath, [CLI, ...args, '--host', host], { stdio: 'ignore' });
    const child = start();
    while (!(await readdir(folder)).includes(`${name}.part`)) await sleep(20);
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.ok(!(await readdir(folder)).includes(name));
    // Leftovers of the killed export do not matter.
    const second = start();
    await once(stalling, 'request');
    while ((await readFile(`${file}.part`)).length === 0) await sleep(20);
    stalling.closeAllConnections();
    const [code] = (await once(second, 'exit')) as [number];
    assert.equal(code, 1);
    assert.deepEqual(
      (await readdir(folder)).filter((each) => each.startsWith(name)),
      [],
    );
  } finally {
    stalling.closeAllConnections();
    stalling.close();
  }
});

it('an export is private to its user unless --shared is set', async () => {
  const modeOf = async (name: string, ...flags: readonly string[]): Promise<number> => {
    const file = join(folder, name);
    await writeFile(`${file}.part`, ''); // Left by a killed export, with the mode of the umask.
    await chmod(`${file}.part`, 0o644);
    await succeed('export', '-d', DB, '--table', 'm', '-f', 'csv', '-o', file, ...flags);
    return (await stat(file)).mode & 0o777;
  };
  assert.equal(await modeOf('private.csv'), 0o600);
  assert.notEqual((await modeOf('shared.csv', '--shared')) & 0o044, 0);
});

it('an export never replaces a file', async () => {
  const file = join(folder, 'mine.csv');
  await writeFile(file, 'mine');
  const refused = await run('export', '-d', DB, '--table', 'm', '-f', 'csv', '-o', file);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /cannot write .*mine\.csv: the file already exists/);
  assert.equal(await readFile(file, 'utf8'), 'mine');
});
