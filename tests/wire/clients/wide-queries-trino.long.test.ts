// Source: docs/WIDE-QUERIES.md, "Supported SQL". Trino runs as a coordinator and two workers.
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
const LEAST_EQUAL_CASES = 100;
const TOLERANCE = 1e-12;
const KILL_LIMIT_MS = 60_000;

/** Rows of 4 years, before and after 1970, with absent tags and fields. */
const LINES = Array.from({ length: 3000 }, (_, i) => {
  const tags = i % 7 === 0 ? '' : `,host=h${i % 5}`;
  const field = i % 11 === 0 ? '' : `,f=${(i * 37) % 1001}.25`;
  return `m${tags} i=${(i * 7919) % 1000}i,b=${i % 3 === 0},s="text ${i % 13}"${field} ${BigInt(i - 1500) * 40_000_000_000_007n}`;
});

/** Extreme values, and strings of several bytes per character. */
const EDGE_LINES = [
  'edge,t=a,tag=x,Tag=y e=1i,i=9223372036854775807i,f=1e300 -9223372036854775806',
  'edge,t=é,tag=x e=2i,i=-9223372036854775808i,f=-0.0 9223372036854775806',
  "edge,t=日本\\ '語',Tag=z e=3i,i=9007199254740993i,f=5e-324 -1",
  'edge,t=💡x e=4i,i=1i,f=0.1 0',
  'edge e=5i,f=123456789.123456789 1677777777777777777',
  'edge,t=z e=6i -3600000000001',
];

const OF_ONE_FLOAT = [
  ...['acos', 'asin', 'atan', 'cbrt', 'ceil', 'cos', 'cosh', 'degrees', 'exp', 'floor', 'ln'],
  ...['log10', 'radians', 'sin', 'sinh', 'sqrt', 'tan', 'tanh', 'isnan'],
  ...['iszero', 'round', 'trunc', 'abs'],
];
const CALENDAR = ['year', 'quarter', 'month', 'week', 'day'];
const CLOCK = ['hour', 'minute', 'second', 'millisecond', 'microsecond', 'nanosecond'];
const list = (names: readonly string[], textOf: (name: string) => string): string =>
  names.map((name) => `${textOf(name)} AS x_${name}`).join(', ');
const FLOATS = '(SELECT DISTINCT (i - 500) / 100.0 AS x FROM m WHERE i % 25 = 0) t';
const truncated = list([...CALENDAR, ...CLOCK], (part) => `date_trunc('${part}', time)`);
const parts = list(
  [...CALENDAR, ...CLOCK, 'isoyear', 'doy', 'dow', 'isodow', 'epoch'],
  (part) => `date_part('${part}', time)`,
);

/** With every verified function and operator. */
const STATEMENTS = [
  'SELECT count(*) AS a, count(f) AS b, count(DISTINCT host) AS c, sum(i) AS d, min(time) AS e, max(time) AS f FROM m',
  'SELECT host, avg(f) AS a, stddev(f) AS b, var_pop(i) AS c, covar_pop(f, i) AS d FROM m GROUP BY host ORDER BY host',
  "SELECT date_bin(INTERVAL '7 days', time) AS t, count(*) AS n, sum(f) AS s FROM m GROUP BY t ORDER BY t",
  "SELECT date_bin(INTERVAL '90 minutes', time, '2001-01-01T00:10:00Z') AS t, max(i) AS n FROM m GROUP BY t ORDER BY t DESC LIMIT 50",
  "SELECT date_trunc('month', time) AS t, host, avg(i) AS a FROM m GROUP BY t, host HAVING count(*) > 3 ORDER BY t, host NULLS FIRST",
  "SELECT date_trunc('week', time) AS w, date_part('dow', time) AS d, count(*) AS n FROM m GROUP BY w, d ORDER BY w, d",
  "SELECT date_part('year', time) AS y, date_part('doy', time) AS d, date_part('hour', time) AS h, date_part('nanosecond', time) AS n FROM m ORDER BY time LIMIT 40",
  "SELECT time, host, s FROM m WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-03-01T00:00:00Z' AND host IN ('h1', 'h2')",
  'SELECT host, s, row_number() OVER (PARTITION BY host ORDER BY time DESC) AS n, lag(i) OVER (PARTITION BY host ORDER BY time) AS p FROM m WHERE i < 20 ORDER BY time',
  'WITH t AS (SELECT host, max(f) AS top FROM m GROUP BY host) SELECT m.time, m.host, m.f FROM m JOIN t ON m.host = t.host AND m.f = t.top ORDER BY m.host, m.time',
  "SELECT DISTINCT coalesce(host, 'none') || ':' || s AS k, char_length(s) AS c, strpos(s, '1') AS p FROM m WHERE s LIKE 'text 1%' ORDER BY k",
  'SELECT i % 10 AS k, sum(CASE WHEN b THEN f ELSE 0 END) AS s, sum(i) FILTER (WHERE NOT b) AS t, round(sqrt(abs(min(f) - 500))) AS r FROM m GROUP BY k ORDER BY k',
  'SELECT i FROM m WHERE i > 990 UNION ALL SELECT count(*) FROM m WHERE f IS NULL',
  'SELECT count(*) AS n FROM m WHERE i IN (SELECT i FROM m WHERE b) AND NOT EXISTS (SELECT 1 FROM m x WHERE x.i > 5000)',
  `SELECT ${list(OF_ONE_FLOAT, (name) => `${name}(x)`)}, atan2(x, 3) AS a, power(x, 2.5) AS p, pow(x, 0.0) AS q, pi() AS pi FROM ${FLOATS} ORDER BY x`,
  'SELECT host, bool_and(b) AS a, bool_or(b) AS o, bit_and(i) AS x, bit_or(i) AS y, bit_xor(i) AS z, covar_samp(f, i) AS c, covar(f, i) AS c2, stddev_pop(f) AS d, stddev_samp(f) AS e, var(i) AS v, var_samp(f) AS w, var_sample(f) AS ws, var_population(f) AS u, mean(i) AS n, sum(DISTINCT i) AS k, avg(DISTINCT f) AS l, min(s) AS ms, max(b) AS mb FROM m GROUP BY host ORDER BY host',
  'SELECT time, rank() OVER (ORDER BY s) AS r, dense_rank() OVER (PARTITION BY host ORDER BY s DESC NULLS LAST) AS d, lead(i, 2) OVER (ORDER BY time) AS l, sum(i) OVER (PARTITION BY host ORDER BY time) AS c, count(*) OVER (PARTITION BY s) AS k, avg(f) OVER (PARTITION BY host) AS a FROM m WHERE i < 60 ORDER BY time',
  "SELECT DISTINCT s, length(s) AS a, character_length(s) AS b, contains(s, '1') AS c, replace(s, 'text', 'x') AS d, starts_with(s, 'text 1') AS e, substr(s, 3) AS f, substring(s, 2, 3) AS g, trim('  ' || s || ' ') AS h, ltrim('  ' || s || ' ') AS i, rtrim(' ' || s || '  ') AS j, btrim('  ' || s) AS k, instr(s, 'x') AS l, position('t' IN s) AS n, concat(s, '-', 1, true, NULL) AS o FROM m ORDER BY s",
  "SELECT DISTINCT host, nullif(host, 'h1') AS a, nvl(host, 'x') AS b, ifnull(host, 'y') AS c, host IS DISTINCT FROM 'h2' AS e, host IS NOT DISTINCT FROM NULL AS f, host IS NULL AS g, (host = 'h1') IS TRUE AS h, (host = 'h1') IS NOT FALSE AS i, (host = 'h1') IS UNKNOWN AS j, host LIKE '%1' AS k, host NOT LIKE 'h\\_' AS l, host BETWEEN 'h1' AND 'h3' AS m, host NOT IN ('h1') AS n FROM m ORDER BY host",
  `SELECT ${truncated} FROM m ORDER BY time`,
  `SELECT ${parts} FROM m ORDER BY time`,
  "SELECT CAST(f AS BIGINT) AS a, CAST(i AS DOUBLE) AS b, CAST(b AS INT8) AS c, CAST(i AS VARCHAR) AS d, CAST(b AS STRING) AS e, CAST(i AS BOOLEAN) AS f, CAST(time AS BIGINT) AS g, CAST(i AS TIMESTAMP) AS h, -i AS j, i / 7 AS l, -i % 7 AS o, f / 0 AS p, f % 7 AS q, i * 1.5 AS r, time - INTERVAL '1 day 3 seconds' AS s, time > '1971-05-06' AS t FROM m ORDER BY time",
  'SELECT i FROM m WHERE i < 50 INTERSECT SELECT i FROM m WHERE i > 20',
  'SELECT i FROM m WHERE i < 50 EXCEPT SELECT i FROM m WHERE i > 20',
  'SELECT s FROM m UNION SELECT host FROM m',
  'SELECT a.i AS x, b.i AS y FROM (SELECT DISTINCT i FROM m WHERE i < 40) a FULL JOIN (SELECT DISTINCT i + 20 AS i FROM m WHERE i < 40) b ON a.i = b.i ORDER BY x, y',
  'SELECT a.i, b.f FROM (SELECT i, max(f) AS f FROM m WHERE i < 40 GROUP BY i) a LEFT JOIN (SELECT i, min(f) AS f FROM m WHERE i < 20 GROUP BY i) b USING (i) ORDER BY i',
  'SELECT a.i AS x, b.i AS y FROM (SELECT DISTINCT i FROM m WHERE i < 40) a RIGHT JOIN (SELECT DISTINCT i FROM m WHERE i < 45) b ON a.i = b.i ORDER BY y',
  'SELECT a.i, b.i AS c FROM (SELECT DISTINCT i FROM m WHERE i < 9) a, (SELECT DISTINCT i FROM m WHERE i > 990) b ORDER BY a.i, c',
  'SELECT host, (SELECT max(x.f) FROM m x) AS t, count(*) AS n FROM m GROUP BY host ORDER BY host',
  '(WITH w AS (SELECT i FROM m WHERE i < 50) SELECT i FROM w) UNION ALL SELECT i FROM m WHERE i > 990',
  'SELECT time, i FROM m ORDER BY i DESC, time LIMIT 7 OFFSET 3',
  'SELECT e, i, f, time FROM edge ORDER BY e',
  `SELECT e, ${truncated}, date_bin(INTERVAL '3 days', time, '2000-01-01') AS b FROM edge ORDER BY e`,
  `SELECT e, ${parts} FROM edge ORDER BY e`,
  'SELECT min(i) AS a, max(i) AS b, min(time) AS c, max(time) AS d, sum(f) AS e, min(f) AS g, max(t) AS h, count(DISTINCT t) AS k FROM edge',
  `SELECT t, length(t) AS l, substr(t, 2, 1) AS s, strpos(t, 'é') AS p, concat(t, '!') AS c, replace(t, '''', '"') AS r FROM edge ORDER BY t`,
  'SELECT "Tag", tag, count(*) AS n FROM edge GROUP BY 1, 2 ORDER BY 1, 2',
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

before(async () => {
  const files = await readCases();
  const port = await freePort();
  const databases = ['wide', ...files.map(({ db }) => db)];
  if (!(await startBoth(databases, port))) return;
  for (const { db, lines } of [{ db: 'wide', lines: [...LINES, ...EDGE_LINES] }, ...files]) {
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
async function startBoth(databases: readonly string[], port: number): Promise<boolean> {
  trino = await Trino.start(
    { skip: () => undefined }, // each test skips itself
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
  if (trino === undefined) return false;
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
  const lines = text.replace(/\n$/, '').split('\n');
  return /\bORDER BY\b/i.test(q) ? lines : lines.sort();
};

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const isFloat = (cell: string): boolean => NUMBER.test(cell) && !INTEGER.test(cell);

/** NULL is an empty cell. Only floats may differ, in the last digits. */
const isSameCell = (a: string, b: string): boolean =>
  a === b ||
  (isFloat(a) && isFloat(b) && Math.abs(Number(a) - Number(b)) <= TOLERANCE * Math.abs(Number(a)));

function isSameRow(a: string, b: string | undefined): boolean {
  if (a === b) return true;
  const [left, right] = [a.split(','), b?.split(',') ?? []];
  return left.length === right.length && left.every((cell, i) => isSameCell(cell, right[i] ?? ''));
}

type Comparison = 'equal' | 'refused' | 'both failed' | string;

async function compare(statement: Statement): Promise<Comparison> {
  const wide = await run(statement, 'trino');
  if (wide.status === 400 && REFUSED.test(JSON.parse(wide.text).error)) return 'refused';
  const local = await run(statement, 'duckdb');
  if (local.status !== 200)
    return wide.status === 200 ? 'only the local query fails' : 'both failed';
  if (wide.status !== 200) return `${wide.status} ${wide.text}`;
  const [expected, found] = [rowsOf(local, statement.q), rowsOf(wide, statement.q)];
  const isSame =
    expected.length === found.length && expected.every((row, i) => isSameRow(row, found[i]));
  return isSame ? 'equal' : `expected ${expected.join(' / ')}, found ${found.join(' / ')}`;
}

/** A test that is skipped without Trino. */
function itOnTrino(
  name: string,
  test: (trino: Trino, context: TestContext) => Promise<void>,
): void {
  it(name, async (context) => {
    if (trino === undefined) context.skip('Trino is not installed');
    else await test(trino, context);
  });
}

itOnTrino('gives the results of the local query', async () => {
  for (const q of STATEMENTS) {
    const found = await compare({ db: 'wide', q, params: {} });
    assert.equal(found, 'equal', q);
  }
});

itOnTrino(
  'gives the results of all query cases that it does not reject',
  async (_trino, context) => {
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
  },
);

itOnTrino('sees rows that were written just before the query', async () => {
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

itOnTrino('ends the query in Trino when the client disconnects', async (trino) => {
  const client = new AbortController();
  const running = run({ db: 'wide', q: ENDLESS, params: {} }, 'trino', client.signal);
  running.catch(() => undefined);
  await until(trino, 1);
  client.abort();
  await until(trino, 0);
});

itOnTrino('reports a killed worker with one error', async (trino, context) => {
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
