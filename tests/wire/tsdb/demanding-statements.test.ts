// Source: docs/ARCHITECTURE.md, "Threads"; query-languages, "Guards"; tsdb-http, "Error model"; ADR 0072.
// Own process: its main thread is measured.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpResponse, ServerProcess } from '../../harness/index.js';

/** With the native parser a delay takes minutes. A machine that is busy with other tests has delayed a request by four seconds. */
const MAX_HEALTH_DELAY_MS = 15_000;
const HOST_COUNT = 12_000;

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({ flags: ['--without-auth'] });
  const lines = ['a', 'b', 'c'].map((host, i) => `cpu,host=${host} usage=${i}.5 ${i}`);
  const response = await server.http.send('/api/v3/write_lp?db=d', { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
});
after(() => server.close());

const watched = (q: string, format = 'json') =>
  watch(
    server.http.send('/api/v3/query_sql', {
      body: JSON.stringify({ db: 'd', q, format }),
      headers: { 'content-type': 'application/json' },
    }),
  );

/** Returns the response, and the longest response time of other requests in the meantime. */
async function watch(sent: Promise<HttpResponse>) {
  let isOver = false;
  let maxDelayMs = 0;
  let askedCount = 0;
  const answering = sent.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const startMs = performance.now();
    assert.equal((await server.http.send('/health')).status, 200);
    maxDelayMs = Math.max(maxDelayMs, performance.now() - startMs);
    askedCount++;
  }
  return { response: await answering, maxDelayMs, askedCount };
}

const error = (text: string) => (JSON.parse(text) as { readonly error: string }).error;

describe('a statement that DuckDB would fail of', () => {
  const columns = (count: number) => Array.from({ length: count }, (_, i) => `usage + ${i}`);
  const refused: readonly (readonly [string, string, string])[] = [
    [
      'too many grouping sets',
      `SELECT count(*) FROM cpu GROUP BY CUBE (${columns(16).join(', ')})`,
      'The number of grouping_set in grouping_sets exceeds the maximum limit 65535, found 65536',
    ],
    [
      'grouping sets that multiply',
      `SELECT count(*) FROM cpu GROUP BY host, CUBE (${columns(12).join(', ')}), ROLLUP (${columns(15).join(', ')})`,
      'The number of grouping_set in grouping_sets exceeds the maximum limit 65535, found 65536',
    ],
    [
      'too many expressions',
      `SELECT ${Array.from({ length: 20_001 }, (_, i) => `${i} AS c${i}`).join(', ')}`,
      'SELECT list has 20001 expressions; at most 20000 are allowed',
    ],
  ];
  for (const [what, q, told] of refused) {
    it(`is refused with its bound: ${what}`, async () => {
      const { response } = await watched(q);
      assert.deepEqual(
        [response.status, error(response.text)],
        [400, `Error during planning: ${told}`],
      );
    });
  }

  it('is none below them', async () => {
    const { response } = await watched(
      'SELECT count(*) AS n FROM cpu GROUP BY CUBE (host, usage), ROLLUP (host)',
    );
    assert.equal(response.status, 200, response.text);
  });
});

describe('a statement that takes the parser or the planner for ever', () => {
  const hostile: Readonly<Record<string, string>> = {
    'words that are functions or names': `SELECT ${'substr(not, '.repeat(30)}host FROM cpu`,
    'brackets around tables': `SELECT * FROM ${'('.repeat(200)}cpu`,
    'open negations': `SELECT ${'NOT ('.repeat(100)}1 2`,
    'open cases': `SELECT ${'CASE WHEN NOT '.repeat(60)}1 2`,
    'calls within calls without an end': `SELECT ${'cast(interval(not('.repeat(25)}1`,
    'blanks of all kinds': `SELECT ${'substr(not, \n\t  /* x */ '.repeat(40)}${' '.repeat(5000)} host`,
  };
  for (const [what, q] of Object.entries(hostile)) {
    it(`is refused in time, and others are answered meanwhile: ${what}`, async () => {
      const { response, maxDelayMs } = await watched(q);
      assert.ok(
        response.status === 400 || response.status === 405,
        `${response.status} ${response.text}`,
      );
      assert.ok(maxDelayMs < MAX_HEALTH_DELAY_MS, `another request waited ${maxDelayMs} ms`);
    });
  }

  it('is told what to do', async () => {
    const { response } = await watched(`SELECT ${'substr(not, '.repeat(30)}host FROM cpu`);
    assert.equal(response.status, 400);
    assert.equal(
      error(response.text),
      'SQL error: ParserError("the statement is too complex; shorten it, or nest its expressions, parentheses and queries less deeply")',
    );
  });
});

describe('a statement that is only long', () => {
  it('is answered, and so are others meanwhile', async () => {
    const hosts = Array.from({ length: HOST_COUNT }, (_, i) => `'host_${i}'`).join(', ');
    const q = `SELECT host, usage FROM cpu WHERE host IN (${hosts}, 'b') OR usage < 1 ORDER BY host`;
    const { response, maxDelayMs, askedCount } = await watched(q, 'csv');
    assert.deepEqual([response.status, response.text.trim()], [200, 'host,usage\na,0.5\nb,1.5']);
    assert.ok(askedCount > 1 && maxDelayMs < MAX_HEALTH_DELAY_MS, `${askedCount} ${maxDelayMs}`);
  });

  it('keeps no shorter one waiting that is for a thread as well', async () => {
    const numbers = Array.from({ length: 90_000 }, (_, i) => i).join(',');
    const hosts = Array.from({ length: 2000 }, (_, i) => `'host_${i}'`).join(',');
    const ended: string[] = [];
    const ask = async (what: string, q: string) => {
      const { response } = await watched(q, 'csv');
      ended.push(what);
      assert.deepEqual([response.status, response.text.trim()], [200, 'host\na'], what);
    };
    const long = ask('long', `SELECT host FROM cpu WHERE usage < 1 AND 0 IN (${numbers})`);
    await ask('short', `SELECT host FROM cpu WHERE host IN (${hosts}, 'a')`);
    await long;
    assert.deepEqual(ended, ['short', 'long']);
  });

  // DuckDB needs comparisons quadratic in their number: half a minute.
  it('is answered when it names each value by itself, and so are others meanwhile', async () => {
    const hosts = Array.from({ length: HOST_COUNT }, (_, i) => `host = 'host_${i}'`).join(' OR ');
    const condition = `(${hosts} OR host = 'b') AND (usage = 1.5 OR usage = 2 OR usage = 7)`;
    const sql = await watched(`SELECT host, usage FROM cpu WHERE ${condition}`, 'csv');
    assert.deepEqual([sql.response.status, sql.response.text.trim()], [200, 'host,usage\nb,1.5']);
    const q = `SELECT host, usage FROM cpu WHERE ${condition}`;
    const influxql = await watch(
      server.http.send('/query', {
        body: new URLSearchParams({ db: 'd', q }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/csv' },
      }),
    );
    assert.match(influxql.response.text, /^name,tags,time,host,usage\ncpu,,1000000000,b,1\.5\s*$/);
    for (const { maxDelayMs } of [sql, influxql]) assert.ok(maxDelayMs < MAX_HEALTH_DELAY_MS);
  });

  it('is refused when it lists too many values', async () => {
    const { response } = await watched(`SELECT 1 IN (${'1,'.repeat(150_000)}1)`);
    assert.equal(response.status, 400);
    assert.equal(
      error(response.text),
      'SQL error: ParserError("the statement lists more than 100000 values; split it")',
    );
  });

  it('is refused when it is longer than anybody writes, whatever it is of', async () => {
    for (const q of [`SELECT '${'x'.repeat(9_000_000)}'`, `SELECT 1 # ${'1 '.repeat(600_000)}`]) {
      const { response } = await watched(q);
      assert.equal(response.status, 405);
      assert.match(response.text, /statements with more than 1000000 characters/);
    }
  });

  it('is refused for the reasons of any other', async () => {
    const hosts = Array.from({ length: HOST_COUNT }, (_, i) => `'host_${i}'`).join(', ');
    const { response } = await watched(`SELECT nothing FROM cpu WHERE host IN (${hosts})`);
    assert.equal(response.status, 400);
    assert.match(error(response.text), /^Schema error: No field named nothing/);
  });

  it('reads system tables, information_schema and caches', async () => {
    const filler = `-- ${'x'.repeat(20_000)}\n`;
    const tables = await watched(
      `${filler}SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox'`,
      'csv',
    );
    assert.equal(tables.response.text.trim(), 'table_name\ncpu');
    const cache = await server.http.send('/api/v3/configure/last_cache', {
      body: JSON.stringify({ db: 'd', table: 'cpu', name: 'newest', key_columns: ['host'] }),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(cache.status, 201, cache.text);
    await server.http.send('/api/v3/write_lp?db=d', { body: 'cpu,host=c usage=9.5 9' });
    const cached = await watched(
      `${filler}SELECT c.usage FROM last_cache('cpu', 'newest') AS c WHERE c.host = 'c'`,
      'csv',
    );
    assert.equal(cached.response.text.trim(), 'usage\n9.5');
    const queries = await watched(
      `${filler}SELECT count(*) > 0 AS some FROM system.queries`,
      'csv',
    );
    assert.equal(queries.response.text.trim(), 'some\ntrue');
  });
});

describe('a statement of InfluxQL that takes long before it reads', () => {
  const influxql = (q: string) =>
    watch(
      server.http.send('/query', {
        body: String(new URLSearchParams({ db: 'many', q })),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    );
  before(async () => {
    const tables = Array.from({ length: 400 }, (_, i) => `${'x'.repeat(60)}_${i} v=${i}`);
    const times = Array.from({ length: 600 }, (_, i) => `seasons v=${(i % 12) + 5} ${i}000000000`);
    const body = [...tables, ...times].join('\n');
    const response = await server.http.send('/api/v3/write_lp?db=many', { body });
    assert.equal(response.status, 204, response.text);
  });

  const hostile: Readonly<Record<string, string>> = {
    'repetitions of repetitions': `SELECT * FROM /^${'(x+x+)+'.repeat(900)}y$/`,
    'many repetitions': `SELECT * FROM ${Array.from({ length: 500 }, (_, i) => `/(x*)*${i}/`).join(', ')}`,
    'long repetitions': `SELECT * FROM cpu WHERE host =~ /${'a{1000}'.repeat(60)}/`,
    'a forecast without an end':
      'SELECT holt_winters(max(v), 1000000000, 4) FROM seasons GROUP BY time(1s)',
    'a season without an end':
      'SELECT holt_winters(max(v), 1, 1000000) FROM seasons GROUP BY time(1s)',
  };
  for (const [what, q] of Object.entries(hostile)) {
    it(`is refused in time, and others are answered meanwhile: ${what}`, async () => {
      const { response, maxDelayMs } = await influxql(q);
      assert.match(response.text, /too complex|must not be greater than/);
      assert.ok(maxDelayMs < MAX_HEALTH_DELAY_MS, `another request waited ${maxDelayMs} ms`);
    });
  }

  it('lets others have their turns while it looks for a forecast', async () => {
    const q =
      'SELECT holt_winters(max(v), 12, 24) FROM seasons WHERE time >= 0 AND time < 600s GROUP BY time(1s) LIMIT 3';
    const { response, maxDelayMs, askedCount } = await influxql(q);
    assert.match(response.text, /"holt_winters"/);
    assert.ok(askedCount > 5 && maxDelayMs < MAX_HEALTH_DELAY_MS, `${askedCount} ${maxDelayMs}`);
  });

  it('is not one that lists many names', async () => {
    const hosts = Array.from({ length: 2000 }, (_, i) => `host${i}`).join('|');
    const { response } = await influxql(`SELECT v FROM seasons, /^(${hosts})$/ LIMIT 1`);
    assert.equal(JSON.parse(response.text).results[0].series[0].name, 'seasons');
  });
});
