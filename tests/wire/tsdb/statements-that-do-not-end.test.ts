// Source: query-languages, "Guards" (a time limit by configuration; patterns and functions of SQL), tsdb-http,
// "Server options users rely on" (`--shutdown-timeout`); docs/adr/0074. Own process: all of its threads are used.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encode, FlightClient, jsonTicket, statusOf } from '../../harness/flight-client.js';
import {
  HttpClient,
  type HttpResponse,
  rows,
  ServerInProcess,
  ServerProcess,
} from '../../harness/index.js';

const FLAGS = ['--without-auth', '--shutdown-timeout', '8s'];
/** Rounds of writes, narrow queries and health checks. If they waited for the statements, only the waiting round would end. */
const MIN_ROUNDS = 2;
/** The uninterruptible statements together take 36 s on two cores. */
const FAR_BELOW_MS = 15_000;
/** More than DuckDB may run at a time. */
const MANY = 24;
/** DuckDB needs four seconds for 2,048 rows and does not check for interrupts during this time. */
const UNINTERRUPTIBLE = 'SELECT max(levenshtein(s, reverse(s))) AS n FROM long';
const ENDLESS = 'SELECT count(*) AS n FROM long a, long b, long c WHERE a.v + b.v + c.v < 0';

const INFLUXQL = `/query?${new URLSearchParams({ db: 'd', q: 'SELECT mode(s) FROM long' })}`;
const queryPath = (q: string): string =>
  `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'json' })}`;

interface Timed extends HttpResponse {
  readonly tookMs: number;
}

/** Uses one connection per request, so that no request queues in the client. */
async function askAlone(server: ServerProcess, path: string): Promise<Timed> {
  const http = new HttpClient(server.url);
  const startMs = performance.now();
  try {
    return { ...(await http.send(path)), tookMs: performance.now() - startMs };
  } finally {
    http.close();
  }
}

async function writeTexts(server: ServerProcess, length: number, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, i) => {
    const text = `${'a'.repeat(length - 4)}${String(i).padStart(4, '0')}`;
    return `long,host=h${i % 3} s="${text}",v=${i}i ${i + 1}`;
  });
  const body = texts.join('\n');
  const response = await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body });
  assert.equal(response.status, 204, response.text);
}

/** Runs writes and narrow queries one after the other until `isOver`; returns the number of rounds completed by then. */
async function othersUntil(server: ServerProcess, isOver: () => boolean): Promise<number> {
  const http = new HttpClient(server.url);
  let roundCount = 0;
  while (!isOver()) {
    const i = roundCount + 1;
    for (const send of [
      () => http.send('/api/v3/write_lp?db=d&precision=ns', { body: `n,host=a v=${i}i ${i}` }),
      () => http.send(queryPath(`SELECT max(v) AS v FROM n WHERE host = 'a'`)),
      () => http.send('/health'),
    ]) {
      const { status, text } = await send();
      assert.ok(status === 200 || status === 204, text);
    }
    roundCount++;
    await sleep(20);
  }
  http.close();
  return roundCount;
}

describe('statements that take long in one row', () => {
  it('five patterns over 5 kB of text stop neither writes nor queries, and all of them end', async () => {
    await using server = await ServerProcess.start({ flags: FLAGS });
    await writeTexts(server, 5000, 20);
    // The first statement opens DuckDB, and the first narrow one loads its columns.
    let count = 0;
    await othersUntil(server, () => count++ === 3);
    assert.deepEqual(await rows(server, 'd', "SELECT count(*) AS n FROM long WHERE s LIKE '%_9'"), [
      { n: 2 },
    ]);
    const statements = [
      "SELECT s LIKE '%a%a%a%a%a%b' AS found FROM long",
      "SELECT s ILIKE '%A%a%_%a%a%a%b' AS found FROM long",
      "SELECT NOT (s NOT LIKE '%a_%a%a%a%a%b') AS found FROM long",
      "SELECT s SIMILAR TO '(a|aa)*(a|aa)*(a|aa)*b' AS found FROM long",
      "SELECT a.s LIKE '%' || left(a.s, 1) || '%a%a%a%a%a%b' AS found FROM long a",
      "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000)) AS n FROM long",
      "SELECT levenshtein(repeat('ä', 20000), repeat('ö', 20000)) AS n FROM long",
      'SELECT array_distinct(range(1000000)) AS n FROM long',
      "SELECT regexp_replace(repeat('a', 200000), 'a.*b|a', 'c', 'g') AS n FROM long",
      "SELECT contains(repeat('a', 250000), repeat('a', 120000) || s) AS n FROM long",
      "SELECT to_char(time, repeat('%Y', 100000)) AS n FROM long",
      "SELECT array_length(string_to_array(repeat('a', 200000), 'a')) AS n FROM long",
      "SELECT split_part(repeat('a', 200000), 'a', 80000) AS n FROM long",
      "SELECT substr_index(repeat('a', 200000), 'a', 80000) AS n FROM long",
      'SELECT range(300000) AS a, range(300000) AS b FROM long LIMIT 1',
      `SELECT ${'initcap('.repeat(14)}s${')'.repeat(14)} AS n FROM long`,
    ];
    // These statements run concurrently with other requests; all others run one after the other.
    const together = statements.slice(0, 6);
    let endedCount = 0;
    const ending = together.map(async (q) => {
      const response = await askAlone(server, queryPath(q));
      endedCount++;
      return response;
    });
    const others = othersUntil(server, () => endedCount === together.length);
    const responses = await Promise.all(ending);
    await others;
    for (const q of statements.slice(together.length)) {
      responses.push(await askAlone(server, queryPath(q)));
    }
    for (const [i, { status, text }] of responses.entries()) {
      const shown = `${statements[i]}: ${text.slice(0, 200)}`;
      if (i < 5) assert.deepEqual(text.match(/true|false/g), Array(20).fill('false'), shown);
      else assert.match(text, /Resources exhausted|too complex/, shown);
      assert.ok(status === 200 || status === 400 || status === 500, shown);
    }
  });

  it('functions that are computed row by row leave the main thread to others', async () => {
    await using server = await ServerProcess.start({
      flags: [...FLAGS, '--tsdb-query-timeout-ms', '5000'],
    });
    await server.http.send('/api/v3/write_lp?db=d', { body: 'n v=1' });
    const q =
      "SELECT max(to_timestamp('2024-01-02 ' || (value % 10), '%Y-%m-%d %H')) AS n FROM generate_series(1, 100000000)";
    const asked = Array.from({ length: 6 }, () => askAlone(server, queryPath(q)));
    for (const { text } of await Promise.all(asked)) {
      assert.match(text, /functions that run outside DuckDB|query-timeout/);
    }
    // A range that is short enough is computed as usual.
    const short = q.replace('100000000', '1000');
    assert.deepEqual(await rows(server, 'd', short), [{ n: '2024-01-02T09:00:00' }]);
  });

  it('common formats of times are written by DuckDB, whatever the number of rows', async () => {
    await using server = await ServerInProcess.start({ flags: FLAGS });
    const days =
      "SELECT to_char(to_timestamp_seconds(value), '%F') AS day FROM generate_series(1, 3000000) GROUP BY 1";
    await server.http.send('/api/v3/write_lp?db=d', { body: 'n v=1' });
    // 3,000,000 s are 34.7 days.
    const asked = `SELECT count(*) AS n, min(day) AS first, max(day) AS last FROM (${days})`;
    assert.deepEqual(await rows(server, 'd', asked), [
      { n: 35, first: '1970-01-01', last: '1970-02-04' },
    ]);
  });

  it('with all places taken writes are synced and answered, and time is up at the deadline', async () => {
    const server = await ServerProcess.start({
      flags: [...FLAGS, '--tsdb-query-timeout-ms', '3000', '--max-concurrent-queries', '64'],
    });
    try {
      await writeTexts(server, 1000, 2048);
      let endedCount = 0;
      const ending = Array.from({ length: MANY }, async (_, i) => {
        const q = i % 4 === 0 ? ENDLESS : UNINTERRUPTIBLE;
        // The last statements wait in the queue.
        const isInfluxql = i === MANY - 1;
        const response = await askAlone(server, isInfluxql ? INFLUXQL : queryPath(q));
        endedCount++;
        return response;
      });
      const flight = new FlightClient(server.url);
      const ticket = jsonTicket({ database: 'd', sql_query: UNINTERRUPTIBLE });
      const flightStatus = statusOf(
        flight.stream('DoGet', encode('Ticket', { ticket })).toArray(),
      ).finally(() => flight.close());
      // The statements reach their time limit at the same moment.
      const others = othersUntil(server, () => endedCount > 0);
      const responses = await Promise.all(ending);
      assert.ok((await others) >= MIN_ROUNDS, `${await others} rounds of others were answered`);
      for (const { tookMs, text } of responses) {
        assert.match(text, /query-timeout limit exceeded: 3000 ms/);
        assert.ok(tookMs < FAR_BELOW_MS, `answered after ${tookMs} ms`);
      }
      assert.match((await flightStatus).details, /query-timeout limit exceeded: 3000 ms/);
      // DuckDB is still running the statement.
      const body = 'last v=1i 1';
      const written = await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body });
      assert.equal(written.status, 204);
      const startMs = performance.now();
      await server.stop();
      assert.ok(performance.now() - startMs < FAR_BELOW_MS);
      const { dataDir } = server;
      await using again = await ServerInProcess.start({ flags: FLAGS, dataDir });
      assert.deepEqual(await rows(again, 'd', 'SELECT count(*) AS n FROM long'), [{ n: 2048 }]);
      assert.deepEqual(await rows(again, 'd', 'SELECT v FROM last'), [{ v: 1 }]);
    } finally {
      await server.close();
    }
  });

  it('SIGTERM ends the server within its time while DuckDB works on', async () => {
    await using server = await ServerProcess.start({ flags: FLAGS });
    await writeTexts(server, 1000, 2048);
    let endedCount = 0;
    const running = Array.from({ length: 6 }, () =>
      askAlone(server, queryPath(UNINTERRUPTIBLE))
        .catch(() => undefined)
        .finally(() => endedCount++),
    );
    await sleep(500);
    // A query that cannot be served from memory: threads are available for it as well.
    const other = await askAlone(
      server,
      queryPath('SELECT count(*) + 1 AS n FROM long WHERE v < 5 OR host IS NULL'),
    );
    assert.match(other.text, /"n":6|\[6\]/);
    assert.equal(endedCount, 0, 'another waits for none of them');
    const startMs = performance.now();
    await server.stop();
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < FAR_BELOW_MS, `it took ${tookMs} ms`);
    await Promise.all(running);
  });
});
