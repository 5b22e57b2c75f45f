// Source: tsdb-http, "Request-level failures"; docs/ARCHITECTURE.md, "Threads". A line that lacks a field of its table has an
// empty cell: lines that alternate between the fields of a table expand to far more cells than bytes.
// Own process: its main thread and memory are measured.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  assertEmpty,
  type OwnServer,
  rows,
  ServerInProcess,
  ServerProcess,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

const DAY_NS = 86_400_000_000_000n;
const GZIP = { 'content-encoding': 'gzip' };
const FIELD_COUNT = 990;
/** With 990 fields: slightly less than four million cells. */
const ROWS_AT_BOUND = 4000;
/** If the main thread did all the work in one tick, it would send only one or two responses. */
const FEW_RESPONSES = 10;

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');
const inTurn = (table: string, rowCount: number): string =>
  lines(rowCount, (i) => `${table} f${i % FIELD_COUNT}=1 ${i}`);

/** Returns the number of other responses while `work` was running. */
async function responsesBeside<T>(
  server: ServerProcess,
  work: Promise<T>,
): Promise<{ readonly result: T; readonly responses: number }> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => undefined);
  let responses = 0;
  while (!isOver) {
    assert.equal((await server.http.send('/ping')).status, 200);
    responses++;
  }
  return { result: await ended, responses };
}

describe('a body whose lines use the fields of one table in turn', () => {
  let server: ServerProcess;
  before(async () => {
    server = await ServerProcess.start({ flags: ['--without-auth'] });
  });
  after(() => server.close());

  it('is refused whole when it becomes far more cells than it has bytes, and changes nothing', async () => {
    for (const api of WRITE_APIS) {
      const response = await write(
        server,
        { api, db: 'sp' },
        gzipSync(inTurn('sp0', 32_000)),
        GZIP,
      );
      assert.equal(response.status, 422, response.text);
      assert.equal(response.headers['content-type'], 'application/json');
      const { error } = JSON.parse(response.text) as { error: string };
      assert.match(
        error,
        /\(\d+ rows of 990 columns so far in table 'sp0'\); send fewer lines, or fewer different fields/,
      );
    }
    const listed = await server.http.send('/api/v3/configure/database?format=json');
    assert.ok(!listed.text.includes('"sp"'), listed.text);
    assertEmpty(await write(server, { db: 'sp' }, 'sp0 f0="a text" 1'));
  });

  it('is refused as well when each line is of another day', async () => {
    const body = lines(200_000, (i) => `sp f${i % FIELD_COUNT}=1 ${BigInt(i % 100_000) * DAY_NS}`);
    const { result, responses } = await responsesBeside(server, write(server, { db: 'sp2' }, body));
    assert.equal(result.status, 422, result.text);
    assert.ok(responses >= FEW_RESPONSES, `${responses} answers`);
  });

  it('is taken below the bound, with what others ask answered meanwhile', async () => {
    const body = gzipSync(inTurn('sp', ROWS_AT_BOUND));
    const { result, responses } = await responsesBeside(
      server,
      write(server, { db: 'taken' }, body, GZIP),
    );
    assertEmpty(result);
    assert.ok(responses >= FEW_RESPONSES, `${responses} answers`);
    assert.deepEqual(
      await rows(
        server,
        'taken',
        'SELECT count(*) AS n, count(f0) AS first, count(f989) AS last, sum(f39) AS sum FROM sp',
      ),
      [{ n: ROWS_AT_BOUND, first: 5, last: 4, sum: 5 }],
    );
    assert.deepEqual(
      await rows(server, 'taken', 'SELECT f7, f8, f9 FROM sp WHERE time = 998::TIMESTAMP'),
      [{ f8: 1 }],
    );
  });

  it('is taken in usual sizes, and when as many values lie dense', async () => {
    assertEmpty(await write(server, { db: 'usual' }, inTurn('telegraf', 900)));
    const fields = lines(100, (i) => `f${i}=${i}`).replaceAll('\n', ',');
    assertEmpty(
      await write(
        server,
        { db: 'usual' },
        lines(10_000, (i) => `dense ${fields} ${i}`),
      ),
    );
    assert.deepEqual(await rows(server, 'usual', 'SELECT sum(f99) AS s FROM dense'), [
      { s: 990_000 },
    ]);
  });
});

/** Waits until all rows of the database are in files, each exactly once. */
async function assertFlushed(server: OwnServer, db: string, rowCount: number): Promise<void> {
  const flushedRows = async (): Promise<number> => {
    const q = "SELECT row_count AS n FROM system.parquet_files WHERE table_name LIKE 'sp%'";
    const files = (await rows(server, db, q)) as readonly { readonly n: number }[];
    return files.reduce((sum, { n }) => sum + n, 0);
  };
  for (let tries = 0; tries < 100 && (await flushedRows()) < rowCount; tries++) await pause(1000);
  assert.equal(await flushedRows(), rowCount);
}

describe('rows of a sparse table that wait in memory', () => {
  it('are flushed with little memory of DuckDB, and the server takes more', async () => {
    const flags = [
      '--without-auth',
      ...['--exec-mem-pool-bytes', '512mb'],
      ...['--tsdb-buffer-flush-age-ms', '2000'],
    ];
    await using server = await ServerInProcess.start({ flags });
    for (let i = 0; i < 5; i++)
      assertEmpty(
        await write(server, { db: 'little' }, gzipSync(inTurn(`sp${i}`, ROWS_AT_BOUND)), GZIP),
      );
    await assertFlushed(server, 'little', 5 * ROWS_AT_BOUND);
    assertEmpty(await write(server, { db: 'little' }, 'sp0 f0=1 1'));
  });

  it('are flushed in pieces where DuckDB cannot sort them all at a time', async () => {
    const flags = [
      '--without-auth',
      ...['--exec-mem-pool-bytes', '32mb'],
      ...['--tsdb-buffer-flush-age-ms', '2000'],
    ];
    await using server = await ServerInProcess.start({ flags });
    const rowCount = 2000;
    for (let body = 0; body < 4; body++) {
      const texts = (row: number): string =>
        lines(20, (field) => `f${field}="${`${row}.${field} `.padEnd(200, 'x')}"`).replaceAll(
          '\n',
          ',',
        );
      const ofBody = lines(rowCount, (i) => {
        const row = body * rowCount + i;
        return `sp,host=h${row} ${texts(row)} ${row}`;
      });
      assertEmpty(await write(server, { db: 'pieces' }, gzipSync(ofBody), GZIP));
    }
    await assertFlushed(server, 'pieces', 4 * rowCount);
    assert.deepEqual(
      await rows(
        server,
        'pieces',
        'SELECT count(f0) AS n, count(DISTINCT f19) AS texts FROM sp WHERE length(f7) = 200',
      ),
      [{ n: 4 * rowCount, texts: 4 * rowCount }],
    );
  });
});

describe('a flush of rows of many days', () => {
  it('lets others be answered', async () => {
    const flags = ['--without-auth', '--tsdb-buffer-flush-age-ms', '100'];
    await using server = await ServerProcess.start({ flags });
    // From 1678 to 2260, twice.
    const rowCount = 212_000;
    const body = lines(
      rowCount,
      (i) => `dd,half=${i % 2} v=1 ${BigInt((i >> 1) - 100_000) * DAY_NS}`,
    );
    assertEmpty(await write(server, { db: 'days' }, body));
    const flushed = async (): Promise<void> => {
      const q = `SELECT row_count AS n FROM system.parquet_files WHERE table_name = 'dd'`;
      for (let tries = 0; tries < 120; tries++) {
        if (((await rows(server, 'days', q)) as unknown[]).length > 0) return;
        await pause(200);
      }
      assert.fail('no flush');
    };
    const { responses } = await responsesBeside(server, flushed());
    assert.ok(responses >= FEW_RESPONSES, `${responses} answers`);
    assert.deepEqual(await rows(server, 'days', 'SELECT count(*) AS n FROM dd'), [{ n: rowCount }]);
  });
});
