import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SqlBench } from './testing/sql-bench.js';

describe('SQL planner', () => {
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({
      cpu: {
        columns: {
          time: 'time',
          host: 'tag',
          usage: 'float64',
          n: 'int64',
          pH: 'float64',
          ph: 'float64',
        },
        rows: [
          ['0', "'a'", '1.5', '7', '7.1', '7.2'],
          ['1', "'b'", '2.5', '-7', '7.3', '7.4'],
          ['2', "'a'", 'NULL', 'NULL', '7.5', '7.6'],
        ],
      },
      mem: { columns: { time: 'time', host: 'tag', used: 'int64' }, rows: [['0', "'a'", '10']] },
    });
  });
  after(() => bench.close());

  const results = async (text: string, rows: readonly string[]) =>
    assert.deepEqual(await bench.rows(text), rows, text);
  const named = (text: string, names: readonly string[]) =>
    assert.deepEqual(
      bench.plan(text).columns.map((column) => column.name),
      names,
      text,
    );
  const refuses = (text: string, kind: string, message: string) =>
    assert.throws(() => bench.plan(text), { kind, message }, text);
  const fails = (text: string, message: string) =>
    refuses(text, 'plan_error', `Error during planning: ${message}`);

  it('folds unquoted names and compares names byte for byte', async () => {
    await results('SELECT PH FROM cpu', ['7.2', '7.4', '7.6']);
    await results('SELECT "pH", Ph AS "PH" FROM cpu LIMIT 1', ['7.1|7.2']);
    await results(
      'WITH "W" AS (SELECT 1 AS "A", 2 AS a), w AS (SELECT 3 AS a) SELECT "W"."A", w.a FROM "W", w',
      ['1|3'],
    );
    refuses(
      'SELECT pHH FROM mem',
      'plan_error',
      'Schema error: No field named phh. Valid fields are mem.host, mem.time, mem.used.',
    );
  });

  it('names expressions without an alias', () => {
    named('SELECT avg(usage), count(*), host FROM cpu GROUP BY host', [
      'avg(cpu.usage)',
      'count(*)',
      'host',
    ]);
    named("SELECT selector_first(usage, time)['value'] FROM cpu", [
      'selector_first(cpu.usage,cpu.time)[value]',
    ]);
    named('SELECT max(usage) + 1 FROM cpu', ['max(cpu.usage) + Int64(1)']);
  });

  it('creates one scan per table in the text', () => {
    const scans = (text: string, count: number) =>
      assert.equal(bench.plan(text).scans.length, count, text);
    scans('SELECT unnest((SELECT array_agg(n) FROM cpu)) AS v', 1);
    scans('SELECT unnest((SELECT array_agg(n) FROM cpu))', 1);
    scans('SELECT unnest((SELECT max(struct(n, usage)) FROM cpu))', 1);
    scans('SELECT (SELECT array_agg(n) FROM cpu) || [1]', 1);
    scans('SELECT grouping(host), (SELECT max(used) FROM mem) FROM cpu GROUP BY host', 2);
    scans(
      "SELECT date_bin_gapfill(INTERVAL '1 second', time) AS t, count(*) FROM (SELECT now() AS time) x " +
        "WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:01:00Z' AND time <> (SELECT max(time) FROM mem) GROUP BY t",
      1,
    );
  });

  it('plans only statements that read', () => {
    fails('DROP TABLE cpu', 'DDL not supported: DropTable');
    fails('CREATE VIEW v AS SELECT 1', 'DDL not supported: CreateView');
    fails('INSERT INTO cpu VALUES (1)', 'DML not supported: Insert');
    fails("COPY cpu TO 'x'", 'DML not supported: Copy');
    fails('SET a = 1', 'Statement not supported: SetVariable');
    fails('SELECT * FROM nope', "table 'public.iox.nope' not found");
    fails("SELECT * FROM read_csv('/etc/passwd')", "table function 'read_csv' not found");
    fails("SELECT * FROM '/etc/passwd'", "table 'public.iox./etc/passwd' not found");
    fails('SELECT * FROM duckdb_settings', "table 'public.iox.duckdb_settings' not found");
    assert.throws(() => bench.plan("SELECT getenv('HOME')"), /Invalid function 'getenv'/);
    refuses(
      'SELECT 1; SELECT 2',
      'not_implemented',
      'This feature is not implemented: The context currently only supports a single SQL statement',
    );
    refuses(
      'SELEC 1',
      'plan_error',
      'SQL error: ParserError("Expected: an SQL statement, found: SELEC at Line: 1, Column: 1")',
    );
    fails('SELECT $host', 'No value found for placeholder with name $host');
  });

  it('divides integers toward zero and fails at run time for a divisor of 0', async () => {
    await results('SELECT n / 2 AS a, n % 2 AS b, n / 2.0 AS c FROM cpu WHERE n IS NOT NULL', [
      '3|1|3.5',
      '-3|-1|-3.5',
    ]);
    await assert.rejects(
      bench.rows('SELECT n / (n - n) FROM cpu'),
      /Arrow error: Divide by zero error/,
    );
  });

  it('compares timestamps with strings, numbers and now()', async () => {
    await results("SELECT n FROM cpu WHERE time = '1970-01-01T02:00:00.000000001+02:00'", ['-7']);
    await results('SELECT count(*) FROM cpu WHERE time BETWEEN 1 AND 2', ['2']);
    await results("SELECT TIMESTAMP '2020-01-31' + INTERVAL '1 month' AS t", [
      '2020-02-29 00:00:00',
    ]);
    await results("SELECT time + INTERVAL '1 nanosecond' AS t FROM mem", [
      '1970-01-01 00:00:00.000000001',
    ]);
    fails(
      "SELECT n FROM cpu WHERE time > 'soon'",
      "Error parsing timestamp from 'soon': error parsing date",
    );
  });

  it('sorts NULL last when ascending and first when descending', async () => {
    await results('SELECT usage FROM cpu ORDER BY usage', ['1.5', '2.5', '']);
    await results('SELECT usage FROM cpu ORDER BY usage DESC', ['', '2.5', '1.5']);
    await results('SELECT usage FROM cpu ORDER BY usage DESC NULLS LAST', ['2.5', '1.5', '']);
  });

  it('groups by alias, position and expression', async () => {
    const rows = ['a|2', 'b|1'];
    await results('SELECT host AS h, count(*) FROM cpu GROUP BY h ORDER BY h', rows);
    await results('SELECT host, count(*) AS c FROM cpu GROUP BY 1 ORDER BY c DESC', rows);
    await results(
      'SELECT upper(host), count(*) FROM cpu GROUP BY upper(cpu.host) HAVING count(*) > 1',
      ['A|2'],
    );
    await results('SELECT host, count(*) FROM cpu GROUP BY ROLLUP (host) ORDER BY host', [
      ...rows,
      '|3',
    ]);
    assert.throws(() => bench.plan('SELECT host, avg(usage) FROM cpu'), /must be in GROUP BY/);
  });

  it('groups by all non-aggregates for GROUP BY ALL', async () => {
    await results('SELECT host, 1, count(*) FROM cpu GROUP BY ALL ORDER BY host', [
      'a|1|2',
      'b|1|1',
    ]);
    await results('SELECT count(*) FROM cpu GROUP BY ALL', ['3']);
  });

  it('keeps the first row in order for DISTINCT ON', async () => {
    await results('SELECT DISTINCT ON (host) host, n FROM cpu ORDER BY host, time DESC', [
      'a|',
      'b|-7',
    ]);
    await results('SELECT DISTINCT ON (host) host AS h FROM cpu ORDER BY 1', ['a', 'b']);
    fails(
      'SELECT DISTINCT ON (host) host, n FROM cpu ORDER BY time',
      'SELECT DISTINCT ON expressions must match initial ORDER BY expressions',
    );
    fails('SELECT DISTINCT ON () host FROM cpu', 'No `ON` expressions provided');
  });

  it('multiplies intervals by a column', async () => {
    await results(
      `SELECT t FROM (SELECT TIMESTAMP '2020-01-31' + n * INTERVAL '1 month 1 second'
         = TIMESTAMP '2020-02-29T00:00:01' AS t FROM (VALUES (1), (NULL), (2)) v(n)) w`,
      ['true', '', 'false'],
    );
  });

  it('joins tables with every kind of join', async () => {
    const join = (kind: string) => `SELECT count(*) FROM cpu ${kind} mem ON cpu.host = mem.host`;
    await results(join('JOIN'), ['2']);
    await results(join('LEFT JOIN'), ['3']);
    await results(join('FULL JOIN'), ['3']);
    await results(join('LEFT SEMI JOIN'), ['2']);
    await results(join('LEFT ANTI JOIN'), ['1']);
    await results(join('RIGHT SEMI JOIN'), ['1']);
    await results('SELECT host, used FROM cpu NATURAL JOIN mem', ['a|10']);
    await results('SELECT count(*) FROM cpu CROSS JOIN mem', ['3']);
  });

  it('returns a column of a USING join once', () => {
    named('SELECT * FROM mem JOIN (SELECT host, n FROM cpu) c USING (host)', [
      'host',
      'time',
      'used',
      'n',
    ]);
  });

  it('runs nested queries', async () => {
    await results(
      'SELECT host, (SELECT max(used) FROM mem WHERE mem.host = cpu.host) AS m FROM cpu ORDER BY time',
      ['a|10', 'b|', 'a|10'],
    );
    await results('SELECT DISTINCT host FROM cpu WHERE host NOT IN (SELECT host FROM mem)', ['b']);
    await results(
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT sum(n) FROM r',
      ['10'],
    );
    await results('SELECT 1 AS x UNION ALL SELECT 2.5 ORDER BY x DESC', ['2.5', '1']);
  });

  it('accepts a UNION of many parts', async () => {
    const parts = Array.from({ length: 60 }, (_, index) => `(SELECT ${index} AS x)`);
    await results(`SELECT count(*) FROM (${parts.join(' UNION ')})`, ['60']);
  });

  it('rejects duplicate names in one result', () => {
    fails(
      'SELECT host, host FROM cpu',
      'Projections require unique expression names but the expression "cpu.host" at position 0 and "cpu.host" ' +
        'at position 1 have the same name. Consider aliasing ("AS") one of them.',
    );
  });

  it('returns the schema views', async () => {
    await results('DESCRIBE mem', [
      'host|Dictionary(Int32, Utf8)|YES',
      'time|Timestamp(Nanosecond, None)|NO',
      'used|Int64|YES',
    ]);
    named('SHOW TABLES', ['table_catalog', 'table_schema', 'table_name', 'table_type']);
    named('SHOW COLUMNS IN cpu', [
      'table_catalog',
      'table_schema',
      'table_name',
      'column_name',
      'data_type',
      'is_nullable',
    ]);
    named('EXPLAIN SELECT 1', ['plan_type', 'plan']);
  });
});
