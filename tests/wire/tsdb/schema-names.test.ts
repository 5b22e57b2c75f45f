// Source: tsdb-http, "Tables and columns".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  FLUSH_AT_ONCE,
  type OwnServer,
  query,
  rows,
  ServerInProcess,
  untilInFiles,
  write,
} from '../../harness/index.js';

let process: ServerInProcess;
let server: OwnServer;
before(async () => {
  process = await ServerInProcess.start();
  server = process;
  for (const [db, body] of BODIES) assertEmpty(await write(server, { db }, body));
});
after(async () => await server.close());

const T1 = '1970-01-01T00:00:00.000000001';
const ORDERED = [
  'z',
  'Z',
  'timf',
  'time0',
  'timd',
  'a',
  '_x',
  '10',
  '9',
  'é',
  '\uff5e',
  '\u{1f600}',
];
const DATABASES = ['metrics', 'Metrics', 'METRICS', 'metrics/day', 'metrics/week'];

/** Names with a special meaning in DuckDB, in a file system or in the query language. */
const AWKWARD = [
  ...['rowid', '_seq', 'series_id', 'seq', 'main', 'temp', 'memory', 'public', 'iox', 'system'],
  ...['select', 'from', 'null', 'true', 'order', 'group', 'table', 'database', 'filename'],
  ...['sqlite_master', 'pg_catalog', 'information_schema', 'duckdb_tables', '__proto__'],
  ...['constructor', 'toString', 'a.b', '../x', 'a/b', "o'clock", 'say "hi"', '; DROP TABLE m'],
  ...['$1', '?', '%s', '\\N', '1', '-1', '*', '*.*', 'a\u0301', 'á', 'ÄÖ', 'äö', '\u{1f600}'],
];
const AWKWARD_TABLES = [...AWKWARD, 'time', '__chunk_order'];

const escapeName = (name: string) =>
  name.replaceAll('\\', '\\\\').replace(/[,= ]/g, (character) => `\\${character}`);
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const inByteOrder = (names: readonly string[]) =>
  names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** One database per claim, all written before the first query. */
const BODIES: readonly (readonly [db: string, body: string])[] = [
  ['order', ORDERED.map((name, index) => `m ${name}=${index} 1`).join('\n')],
  ['case', 'm,host=a,Host=b,HOST=c usage=1,Usage=2i,USAGE="3" 1'],
  ['later', 'm,t=a f=1 1'],
  ['later', 'm,t=a,u=b g=2i,h="x",i=t,j=3u 2'],
  [
    'columns',
    `m,${AWKWARD.map((name) => `${escapeName(`t ${name}`)}=v`).join(',')} ${AWKWARD.map(
      (name, index) => `${escapeName(name)}=${index}i`,
    ).join(',')} 1`,
  ],
  ['tables', AWKWARD_TABLES.map((name, index) => `${escapeName(name)} f=${index}i 1`).join('\n')],
  ['tablecase', 'cpu f=1 1\nCpu f=2i 1\nCPU f="3" 1'],
  ...DATABASES.map((db, index) => [db, `m f=${index}i 1`] as const),
];

function checkNames(): void {
  it('S-02 columns come in byte order of their names, time among them', async () => {
    const text = await query(server, { db: 'order', q: 'SELECT * FROM m', format: 'csv' });
    assert.equal(text.split('\n')[0], inByteOrder([...ORDERED, 'time']).join(','));
  });

  it('S-02 columns that differ only by case are different columns', async () => {
    assert.deepEqual(await rows(server, 'case', 'SELECT * FROM m'), [
      { HOST: 'c', Host: 'b', USAGE: '3', Usage: 2, host: 'a', time: T1, usage: 1 },
    ]);
    const q = 'SELECT host, "Host", "HOST", USAGE AS folded, "USAGE" FROM m';
    assert.deepEqual(await rows(server, 'case', q), [
      { host: 'a', Host: 'b', HOST: 'c', folded: 1, USAGE: '3' },
    ]);
  });

  it('S-02 columns that a table gets later are NULL in its earlier rows', async () => {
    const q = 'SELECT * FROM m ORDER BY time';
    assert.equal(
      await query(server, { db: 'later', q, format: 'csv' }),
      `f,g,h,i,j,t,time,u\n1.0,,,,,a,${T1},\n,2,x,true,3,a,1970-01-01T00:00:00.000000002,b\n`,
    );
  });

  it('S-02 columns may have any name but time', async () => {
    const values = new Map<string, unknown>([
      ...AWKWARD.map((name, index) => [name, index] as const),
      ...AWKWARD.map((name) => [`t ${name}`, 'v'] as const),
      ['time', T1],
    ]);
    const cells = inByteOrder([...values.keys()]).map(
      (name) => `${JSON.stringify(name)}:${JSON.stringify(values.get(name))}`,
    );
    const text = await query(server, {
      db: 'columns',
      q: 'SELECT * FROM m',
      format: 'json_rows',
    });
    assert.equal(text, `[{${cells.join(',')}}]`);
    const all = AWKWARD.map(
      (name, index) => `${quoted(name)} = ${index} AND ${quoted(`t ${name}`)} = 'v'`,
    );
    const q = `SELECT count(*) AS n FROM m WHERE ${all.join(' AND ')}`;
    assert.deepEqual(await rows(server, 'columns', q), [{ n: 1 }]);
  });

  it('S-02 tables may have any name', async () => {
    const parts = AWKWARD_TABLES.map((name) => `SELECT f FROM ${quoted(name)}`);
    assert.deepEqual(
      await rows(server, 'tables', `${parts.join(' UNION ALL ')} ORDER BY f`),
      AWKWARD_TABLES.map((_, index) => ({ f: index })),
    );
    for (const [index, name] of AWKWARD_TABLES.entries()) {
      if (index % 8 > 0) continue; // a sample: statements take time
      const q = `SELECT f FROM ${quoted(name)}`;
      assert.deepEqual(await rows(server, 'tables', q), [{ f: index }], name);
    }
  });

  it('S-02 tables that differ only by case are different tables', async () => {
    assert.deepEqual(await rows(server, 'tablecase', 'SELECT f FROM CPU'), [{ f: 1 }]);
    assert.deepEqual(await rows(server, 'tablecase', 'SELECT f FROM "Cpu"'), [{ f: 2 }]);
    assert.deepEqual(await rows(server, 'tablecase', 'SELECT f FROM "CPU"'), [{ f: '3' }]);
  });

  it('S-02 databases that differ by case or by retention policy are different databases', async () => {
    for (const [index, db] of DATABASES.entries()) {
      assert.deepEqual(await rows(server, db, 'SELECT f FROM m'), [{ f: index }], db);
    }
  });
}

describe('names of rows in memory', checkNames);

describe('names of rows replayed from the log', () => {
  before(async () => {
    const { dataDir } = server;
    await process.kill();
    server = await ServerInProcess.start({ dataDir });
  });
  checkNames();
});

describe('names of rows in segments', () => {
  before(async () => {
    const { dataDir } = server;
    await server.stop();
    server = await ServerInProcess.start({ dataDir, flags: ['--without-auth', ...FLUSH_AT_ONCE] });
    await untilInFiles(server);
  });
  checkNames();
});
