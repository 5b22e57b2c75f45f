// Source: scale, section 5.7; docs/WIDE-QUERIES.md. Trino runs as a coordinator and two workers.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort, type HttpResponse, ServerInProcess, Trino } from '../../harness/index.js';

const CASES = fileURLToPath(new URL('../../../../packages/tsdb/test/queries', import.meta.url));
const CATALOG = 'plinth';
/** Statements that Trino does not run: unverified functions, unpublished columns, no table. */
const REFUSED = /is not verified for trino|is not published|^Trino cannot read/;
/** Fewer equal cases mean that verified functions are rejected. */
const LEAST_EQUAL_CASES = 60;
const TOLERANCE = 1e-12;
const KILL_LIMIT_MS = 60_000;

/** Rows of 4 years, before and after 1970, with absent tags and fields. */
const LINES = Array.from({ length: 3000 }, (_, i) => {
  const tags = i % 7 === 0 ? '' : `,host=h${i % 5}`;
  const field = i % 11 === 0 ? '' : `,f=${(i * 37) % 1001}.25`;
  return `m${tags} i=${(i * 7919) % 1000}i,b=${i % 3 === 0},s="text ${i % 13}"${field} ${BigInt(i - 1500) * 40_000_000_000_007n}`;
});

const STATEMENTS = [
  'SELECT count(*) AS a, count(f) AS b, count(DISTINCT host) AS c, sum(i) AS d, min(time) AS e, max(time) AS f FROM m',
  'SELECT host, avg(f) AS a, stddev(f) AS b, var_pop(i) AS c, covar_pop(f, i) AS d FROM m GROUP BY host ORDER BY host',
  "SELECT date_bin(INTERVAL '7 days', time) AS t, count(*) AS n, sum(f) AS s FROM m GROUP BY t ORDER BY t",
  "SELECT date_bin(INTERVAL '90 minutes', time, '2001-01-01T00:10:00Z') AS t, max(i) AS n FROM m GROUP BY t ORDER BY t DESC LIMIT 50",
  "SELECT date_trunc('month', time) AS t, host, avg(i) AS a FROM m GROUP BY t, host HAVING count(*) > 3 ORDER BY t, host NULLS FIRST",
  "SELECT date_trunc('week', time) AS w, date_part('dow', time) AS d, count(*) AS n FROM m GROUP BY w, d ORDER BY w, d",
  "SELECT date_part('year', time) AS y, date_part('doy', time) AS d, date_part('hour', time) AS h, date_part('nanosecond', time) AS n FROM m ORDER BY time LIMIT 40",
  "SELECT time, host, s FROM m WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-03-01T00:00:00Z' AND host IN ('h1', 'h2')",
  "SELECT host, s, row_number() OVER (PARTITION BY host ORDER BY time DESC) AS n, lag(i) OVER (PARTITION BY host ORDER BY time) AS p FROM m WHERE i < 20 ORDER BY time",
  'WITH t AS (SELECT host, max(f) AS top FROM m GROUP BY host) SELECT m.time, m.host, m.f FROM m JOIN t ON m.host = t.host AND m.f = t.top ORDER BY m.host, m.time',
  "SELECT DISTINCT coalesce(host, 'none') || ':' || s AS k, char_length(s) AS c, strpos(s, '1') AS p FROM m WHERE s LIKE 'text 1%' ORDER BY k",
  "SELECT i % 10 AS k, sum(CASE WHEN b THEN f ELSE 0 END) AS s, sum(i) FILTER (WHERE NOT b) AS t, round(sqrt(abs(min(f) - 500))) AS r FROM m GROUP BY k ORDER BY k",
  'SELECT i FROM m WHERE i > 990 UNION ALL SELECT count(*) FROM m WHERE f IS NULL',
  'SELECT count(*) AS n FROM m WHERE i IN (SELECT i FROM m WHERE b) AND NOT EXISTS (SELECT 1 FROM m x WHERE x.i > 5000)',
];
/** Runs for minutes. */
const ENDLESS = 'SELECT count(*) AS n FROM m a, m b, m c WHERE a.i * b.i + c.i > 100';

interface Statement {
  readonly db: string;
  readonly q: string;
  readonly params: object;
}

let server: ServerInProcess;
let trino: Trino | undefined;
let cases: readonly Statement[] = [];

before(async (context) => {
  const files = await readCases();
  const port = await freePort();
  const databases = ['wide', ...files.map(({ db }) => db)];
  const trinoPort = await startBoth(context as TestContext, { databases, port });
  if (trinoPort === undefined) return;
  for (const { db, lines } of [{ db: 'wide', lines: LINES }, ...files]) {
    if (lines.length === 0) continue;
    const path = `/api/v3/write_lp?db=${db}&precision=nanosecond`;
    const written = await server.http.send(path, { body: lines.join('\n') });
    assert.equal(written.status, 204, written.text);
  }
  cases = files.flatMap(({ db, lines, statements }) =>
    lines.length === 0 ? [] : statements.map((statement) => ({ db, ...statement })),
  );
});
after(async () => {
  await server?.close();
  await trino?.[Symbol.asyncDispose]();
});

/** The server needs Trino's address, and Trino the server's. */
async function startBoth(
  context: TestContext,
  { databases, port }: { readonly databases: readonly string[]; readonly port: number },
): Promise<true | undefined> {
  trino = await Trino.start(
    context,
    {
      [CATALOG]: {
        'connector.name': 'iceberg',
        'iceberg.catalog.type': 'rest',
        'iceberg.rest-catalog.uri': `http://127.0.0.1:${port}/iceberg`,
        'iceberg.rest-catalog.case-insensitive-name-matching': 'true',
        'fs.hadoop.enabled': 'true',
      },
    },
    { workerCount: 2 },
  );
  if (trino === undefined) return undefined;
  server = await ServerInProcess.start({
    flags: [
      ...['--without-auth', '--services', 'tsdb', '--http-bind', `127.0.0.1:${port}`],
      ...['--open-tables-databases', databases.join(','), '--query-wide-url', trino.url],
    ],
  });
  return true;
}

async function readCases() {
  const names = (await readdir(CASES)).filter((name) => name.endsWith('.sql'));
  return await Promise.all(
    names.map(async (name) => {
      const blocks = (await readFile(`${CASES}/${name}`, 'utf8'))
        .trim()
        .split(/\n{2,}/)
        .map((block) => block.split('\n'));
      const isWrite = blocks[0]?.[0] === '-- write';
      const lines = isWrite ? (blocks[0] ?? []).slice(1).map((line) => line.slice(3)) : [];
      const statements = blocks.slice(isWrite ? 1 : 0).map(([, ...rest]) => {
        const params = rest[0]?.startsWith('-- params: ') ? rest[0].slice(11) : undefined;
        const q = rest.slice(params === undefined ? 0 : 1).join('\n');
        return { q, params: JSON.parse(params ?? '{}') };
      });
      return { db: name.replace('.sql', ''), lines, statements };
    }),
  );
}

const run = (
  { db, q, params }: Statement,
  engine: string,
  signal?: AbortSignal,
): Promise<HttpResponse> =>
  server.http.send('/api/v3/query_sql', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ db, q, params, engine, format: 'csv' }),
    ...(signal !== undefined && { signal }),
  });

/** Rows without ORDER BY have no order. */
const rowsOf = ({ text }: HttpResponse, q: string): readonly string[] => {
  const lines = text.trimEnd().split('\n');
  return /\bORDER BY\b/i.test(q) ? lines : lines.sort();
};

const isSameCell = (a: string, b: string): boolean =>
  a === b || Math.abs(Number(a) - Number(b)) <= TOLERANCE * Math.abs(Number(a));

function isSameRow(a: string, b: string | undefined): boolean {
  if (a === b) return true;
  const [left, right] = [a.split(','), b?.split(',') ?? []];
  return (
    left.length === right.length &&
    left.every((cell, i) => isSameCell(cell, right[i] ?? ''))
  );
}

type Comparison = 'equal' | 'refused' | 'both failed' | string;

async function compare(statement: Statement): Promise<Comparison> {
  const wide = await run(statement, 'trino');
  if (wide.status === 400 && REFUSED.test(JSON.parse(wide.text).error)) return 'refused';
  const local = await run(statement, 'duckdb');
  if (local.status !== 200) return wide.status === 200 ? 'only the local query fails' : 'both failed';
  if (wide.status !== 200) return `${wide.status} ${wide.text}`;
  const [expected, found] = [rowsOf(local, statement.q), rowsOf(wide, statement.q)];
  const isSame =
    expected.length === found.length && expected.every((row, i) => isSameRow(row, found[i]));
  return isSame ? 'equal' : `expected ${expected.join(' / ')}, found ${found.join(' / ')}`;
}

it('gives the results of the local query', async (context) => {
  if (trino === undefined) return context.skip('Trino is not there');
  for (const q of STATEMENTS) {
    const found = await compare({ db: 'wide', q, params: {} });
    assert.equal(found, 'equal', q);
  }
});

it('gives the results of all query cases that it does not reject', async (context) => {
  if (trino === undefined) return context.skip('Trino is not there');
  const counts = new Map<string, number>();
  const differences: string[] = [];
  for (const statement of cases) {
    const found = await compare(statement);
    counts.set(found, (counts.get(found) ?? 0) + 1);
    if (!['equal', 'refused', 'both failed'].includes(found))
      differences.push(`${statement.db}: ${statement.q}\n${found}`);
  }
  context.diagnostic(`${counts.get('equal')} equal, ${counts.get('refused')} rejected`);
  assert.deepEqual(differences, []);
  assert.ok((counts.get('equal') ?? 0) >= LEAST_EQUAL_CASES);
});

it('sees rows that were written just before the query', async (context) => {
  if (trino === undefined) return context.skip('Trino is not there');
  for (const count of [1, 2]) {
    const path = '/api/v3/write_lp?db=wide&precision=nanosecond';
    await server.http.send(path, { body: `fresh v=${count}i ${count}` });
    const statement = { db: 'wide', q: 'SELECT count(*) AS n, sum(v) AS s FROM fresh', params: {} };
    const { text, headers } = await run(statement, 'trino');
    assert.equal(text, `n,s\n${count},${(count * (count + 1)) / 2}\n`);
    assert.ok(headers['x-plinth-fresh-through']);
  }
  const remove = { predicate: '', start: '1970-01-01T00:00:00Z', stop: '1970-01-02T00:00:00Z' };
  const body = JSON.stringify({ ...remove, predicate: '_measurement="fresh"' });
  await server.http.send('/api/v2/delete?org=o&bucket=wide', { body });
  const q = 'SELECT count(*) AS n FROM fresh';
  assert.equal((await run({ db: 'wide', q, params: {} }, 'trino')).text, 'n\n0\n');
});

const runningCount = async (coordinator: Trino): Promise<unknown> => {
  const sql = `SELECT count(*) FROM system.runtime.queries WHERE source = 'plinth' AND state IN ('QUEUED', 'PLANNING', 'STARTING', 'RUNNING')`;
  return (await coordinator.query(sql))[0]?.[0];
};

it('ends the query in Trino when the client disconnects', async (context) => {
  if (trino === undefined) return context.skip('Trino is not there');
  const client = new AbortController();
  const running = run({ db: 'wide', q: ENDLESS, params: {} }, 'trino', client.signal);
  running.catch(() => undefined);
  await until(trino, 1);
  client.abort();
  await until(trino, 0);
});

it('reports a killed worker with one error', async (context) => {
  if (trino === undefined) return context.skip('Trino is not there');
  const running = run({ db: 'wide', q: ENDLESS, params: {} }, 'trino');
  await until(trino, 1);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const startMs = performance.now();
  trino.killWorker();
  const { status, text } = await running;
  const tookMs = performance.now() - startMs;
  context.diagnostic(`${status} after ${Math.round(tookMs)} ms: ${text}`);
  assert.equal(status, 500);
  assert.match(JSON.parse(text).error, /^query error: error while executing plan: Trino: /);
  assert.ok(tookMs < KILL_LIMIT_MS, `${tookMs} ms`);
  const after = await run({ db: 'wide', q: 'SELECT count(*) AS n FROM m', params: {} }, 'trino');
  assert.equal(after.text, `n\n${LINES.length}\n`);
});

async function until(coordinator: Trino, count: number): Promise<void> {
  for (let round = 0; round < 300; round++) {
    if ((await runningCount(coordinator)) === count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`there are not ${count} running queries`);
}
