// Source: query-languages, "Guards" (memory by configuration), tsdb-http, "Result formats"; docs/adr/0074.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { encode, FlightClient, jsonTicket, statusOf } from '../../harness/flight-client.js';
import { type HttpResponse, ServerProcess } from '../../harness/index.js';

const MEBIBYTE = 1024 * 1024;
const QUERY_MEMORY_BYTES = 256 * MEBIBYTE;
/** Maximum process growth by a statement: twice its memory, plus allocations until the next check between two chunks. */
const MOST_GROWTH_BYTES = 2.5 * QUERY_MEMORY_BYTES;
const ROW_COUNT = 60_000;
const TEXT_LENGTH = 100;
const FLAGS = ['--without-auth', '--tsdb-query-memory-bytes', String(QUERY_MEMORY_BYTES)];

/** A single string of about 101 bytes per row. */
const joined = (rowCount: number): string =>
  `(SELECT string_agg(s, ',') AS a FROM (SELECT s FROM cpu LIMIT ${rowCount}) y) x`;
const times = (rowCount: number): string => `CROSS JOIN (SELECT v FROM cpu LIMIT ${rowCount}) z`;
const columns = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${text(i)} AS n${i}`).join(', ');

const rows = (lines: string): unknown[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function start(): Promise<ServerProcess> {
  const server = await ServerProcess.start({ flags: FLAGS });
  const body = Array.from(
    { length: ROW_COUNT },
    (_, i) => `cpu,host=h${i % 7} s="${String(i).padStart(TEXT_LENGTH, 'x')}",v=${i}.5 ${i + 1}`,
  ).join('\n');
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body });
  assert.equal(response.status, 204, response.text);
  return server;
}

const ask = (server: ServerProcess, q: string, format = 'json'): Promise<HttpResponse> =>
  server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format })}`);

/** Returns resident memory in bytes: `VmRSS` is the current value, `VmHWM` the peak since the last reset. */
async function memoryOf({ pid }: ServerProcess, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
}

/** Returns the result of `work`, and asserts that the server's memory stays within the limit for statements. */
async function bounded<T>(server: ServerProcess, work: () => Promise<T>): Promise<T> {
  await writeFile(`/proc/${server.pid}/clear_refs`, '5');
  const restBytes = await memoryOf(server, 'VmRSS');
  const result = await work();
  const grewBytes = (await memoryOf(server, 'VmHWM')) - restBytes;
  assert.ok(grewBytes < MOST_GROWTH_BYTES, `grew by ${Math.round(grewBytes / MEBIBYTE)} MiB`);
  return result;
}

const LINUX = { skip: process.platform !== 'linux' && '/proc tells the memory of a process' };

describe('texts that are longer than the memory of queries', LINUX, () => {
  it('made of each other in 2,048 rows end the statement, not the server', async () => {
    await using server = await start();
    for (const q of [
      `SELECT max(length(concat(a, v))) AS n FROM ${joined(10_000)} ${times(3000)}`,
      `SELECT max(length(upper(a || v))) AS n FROM ${joined(10_000)} ${times(3000)}`,
      `SELECT ${columns(60, (i) => `max(length(repeat(s, ${1000 + i})))`)} FROM cpu`,
      `SELECT ${columns(60, (i) => `max(length(lpad(s, ${100_000 + i})))`)} FROM cpu`,
    ]) {
      const { status, text } = await bounded(server, () => ask(server, q));
      assert.equal(status, 400, q);
      assert.match(
        text,
        /Resources exhausted: a batch of up to 2048 rows uses more than \d+ bytes of strings/,
        q,
      );
    }
    const short = await ask(server, `SELECT upper(a || 'b') AS n FROM ${joined(2)}`);
    assert.match(short.text, /"X+0,X+1B"/);
  });

  it('repeated by a join are handed out piece by piece', async () => {
    await using server = await start();
    const q = `SELECT a FROM ${joined(20_000)} ${times(60)}`;
    const size = 20_000 * (TEXT_LENGTH + 1) - 1;
    for (const format of ['jsonl', 'csv']) {
      const { status, text } = await bounded(server, () => ask(server, q, format));
      assert.equal(status, 200, format);
      assert.ok(text.length > 60 * size, format);
    }
    const parquet = await bounded(server, () => ask(server, q, 'parquet'));
    assert.ok(parquet.status === 200 || /Resources exhausted/.test(parquet.text), parquet.text);
  });

  it('of one value are refused by name in every format, before they hold the others up', async () => {
    await using server = await start();
    // 60 MB.
    const q = `SELECT repeat(a, 10) AS a FROM (SELECT string_agg(s, ',') AS a FROM cpu) x`;
    const whole = `SELECT string_agg(s || s || s, ',') AS a FROM cpu`;
    assert.match((await ask(server, q)).text, /repeat result too large/);
    for (const format of ['json', 'jsonl', 'csv', 'pretty']) {
      const { status, text } = await bounded(server, () => ask(server, whole, format));
      assert.equal(status, 400, format);
      assert.match(text, /a string of \d+ bytes exceeds the result limit of 16777216/);
    }
    const flight = new FlightClient(server.url);
    const ticket = jsonTicket({ database: 'd', sql_query: whole });
    const stream = flight.stream('DoGet', encode('Ticket', { ticket }));
    assert.match((await statusOf(stream.toArray())).details, /exceeds the result limit/);
    flight.close();
    const listed = await ask(
      server,
      `SELECT array_agg(a) AS a FROM ${joined(50_000)} ${times(20)}`,
    );
    assert.match(listed.text, /Resources exhausted/);
    assert.match(
      (await ask(server, `SELECT length(a) AS n FROM ${joined(50_000)}`)).text,
      /5049999/,
    );
  });

  it('collected by a window over all rows end the statement within the memory of queries', async () => {
    await using server = await start();
    for (const q of [
      "SELECT string_agg(s, ',') OVER () AS a FROM cpu",
      'SELECT array_agg(s) OVER () AS a FROM cpu',
      'SELECT array_agg(s) OVER (PARTITION BY host) AS a FROM cpu',
      "SELECT string_agg(s, ',') OVER (ORDER BY time) AS a FROM cpu",
      'SELECT array_agg(s) OVER (ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS a FROM cpu',
      'SELECT array_agg(s) OVER (RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS a FROM cpu',
    ]) {
      const { status, text } = await bounded(server, () => ask(server, q));
      assert.equal(status, 503, q);
      assert.match(text, /Resources exhausted/, q);
    }
    const few = await ask(
      server,
      `SELECT host, array_agg(v) OVER () AS a, string_agg(host, '+') OVER (PARTITION BY host) AS b,
         array_agg(v) OVER (ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c
       FROM (SELECT * FROM cpu ORDER BY time LIMIT 3) x ORDER BY host`,
      'jsonl',
    );
    assert.deepEqual(rows(few.text), [
      { host: 'h0', a: [0.5, 1.5, 2.5], b: 'h0', c: [0.5] },
      { host: 'h1', a: [0.5, 1.5, 2.5], b: 'h1', c: [0.5, 1.5] },
      { host: 'h2', a: [0.5, 1.5, 2.5], b: 'h2', c: [1.5, 2.5] },
    ]);
  });

  it('put into every row by a window are refused before they are', async () => {
    await using server = await start();
    const texts = `(SELECT string_agg(s, ',') AS t FROM cpu UNION ALL SELECT s AS t FROM cpu) x`;
    const window = 'OVER (ORDER BY length(t) DESC)';
    for (const call of ['first_value(t)', 'max(t)', 'nth_value(t, 1)', 'lag(t, length(t) - 100)']) {
      const q = `SELECT count(y) AS n FROM (SELECT ${call} ${window} AS y FROM ${texts}) z`;
      const { status, text } = await bounded(server, () => ask(server, q));
      assert.equal(status, 400, q);
      assert.match(text, /argument of 6059999 bytes for a window function/, q);
    }
    const literal = `SELECT count(y) AS n FROM (SELECT lag(s, 70000, '${'y'.repeat(900_000)}') OVER (ORDER BY time) AS y FROM cpu) z`;
    const { text } = await server.http.send('/api/v3/query_sql', {
      body: JSON.stringify({ db: 'd', q: literal }),
      headers: { 'content-type': 'application/json' },
    });
    assert.match(text, /argument of 900000 bytes for a window function/);
  });

  it('and lists repeated by a join are refused before DuckDB copies them', async () => {
    await using server = await start();
    const lists = '(SELECT array_agg(s) AS l, array_agg(v) AS n FROM cpu) a CROSS JOIN cpu b';
    for (const q of [
      `SELECT a FROM ${joined(ROW_COUNT)} ${times(ROW_COUNT)}`,
      `SELECT a.n FROM ${lists}`,
      `SELECT a.l FROM ${lists}`,
      `SELECT max(a.l) AS m FROM ${lists}`,
      `SELECT count(array_length(array_append(a.n, b.v))) AS m FROM ${lists}`,
      `SELECT count(array_length(make_array(a, 'b'))) AS m FROM ${joined(ROW_COUNT)} ${times(ROW_COUNT)}`,
      `SELECT struct(a.n, b.v) AS m FROM ${lists}`,
    ]) {
      const { status, text } = await bounded(server, () => ask(server, q));
      assert.equal(status, 400, q);
      assert.match(
        text,
        /Resources exhausted: a batch of up to 2048 rows uses more than \d+ bytes of strings (?:or|and) lists/,
        q,
      );
    }
    const length = await ask(server, `SELECT max(array_length(a.n)) AS m FROM ${lists}`, 'jsonl');
    assert.deepEqual(rows(length.text), [{ m: ROW_COUNT }]);
  });

  it('in lists and structs are refused by the bytes of all of them', async () => {
    await using server = await start();
    for (const q of [
      `SELECT array_agg(repeat(s, 12)) AS l FROM cpu`,
      `SELECT struct(a, a) AS l FROM ${joined(ROW_COUNT)} ${times(6)}`,
    ]) {
      const { status, text } = await bounded(server, () => ask(server, q));
      assert.equal(status, 400, q);
      assert.match(
        text,
        /lists and structs in up to 2048 result rows contain more than 67108864 bytes of text/,
        q,
      );
    }
    const fitting = `SELECT array_agg(repeat(s, 10)) AS l FROM cpu`;
    assert.equal((await bounded(server, () => ask(server, fitting))).status, 200);
  });
});

describe('hundreds of aggregates', LINUX, () => {
  it('that leave rows out take as much memory as others', async () => {
    await using server = await start();
    for (const [text, value] of [
      [(i: number) => `stddev(v + ${i})`, 17_320.6523],
      [(i: number) => `sum(v + ${i}) FILTER (WHERE v < ${i})`, 0],
      [(i: number) => `selector_first(v + ${i}, time)['value']`, 0.5],
    ] as const) {
      const q = `SELECT ${columns(600, text)} FROM cpu`;
      const { status, text: line } = await bounded(server, () => ask(server, q, 'jsonl'));
      assert.equal(status, 200, line.slice(0, 200));
      const [first = {}] = rows(line) as Readonly<Record<string, number>>[];
      assert.ok(Math.abs((first['n0'] ?? 0) - value) < 0.001, `${first['n0']}`);
    }
  });
});
