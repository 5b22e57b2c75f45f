// Source: docs/WIDE-QUERIES.md; Trino documentation, "SQL statement syntax", "SELECT", and "Functions and operators".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { ParameterValue, PlanContext } from '@plinth/tsdb-model/query/planned-query.js';
import type { WideTable } from '@plinth/tsdb-model/query/wide-plan.js';
import { SqlPlanner } from '../sql-planner.js';
import { tableSchema } from '../testing/sql-bench.js';

const NOW_NS = 1_600_000_000_000_000_000n;
const HOUR = "BIGINT '3600000000000'";
const TABLE = '"lake"."db__jvm"."cpu"';
const COLUMNS: Readonly<Record<string, ColumnKind>> = {
  ...{ time: 'time', host: 'tag', Host: 'tag', usage: 'float64', n: 'int64', u: 'uint64' },
  ...{ s: 'utf8', ok: 'bool' },
};

describe('plan for Trino', () => {
  const cpu = tableSchema('cpu', 1, { columns: COLUMNS, rows: [] });
  let planner: SqlPlanner;
  before(async () => {
    planner = await SqlPlanner.load();
  });
  after(() => planner.close());

  const published: WideTable = {
    path: ['lake', 'db__jvm', 'cpu'],
    columnName: (name) => {
      if (name === 'u') return undefined;
      return { time: 'time_ns', Host: 'Host__2' }[name] ?? name;
    },
    visibleFromNs: undefined,
  };
  const print = (
    text: string,
    table: Partial<WideTable> = {},
    params: Readonly<Record<string, ParameterValue>> = {},
  ): string => {
    const context: PlanContext = {
      database: {
        ...{ id: 1, uuid: 'd', name: 'db', retentionNs: undefined },
        tables: new Map([['cpu', cpu]]),
      },
      ...{ nowNs: NOW_NS, params: new Map(Object.entries(params)) },
      virtualTables: {
        ...{ table: () => undefined, tableFunction: () => undefined, systemTableNames: [] },
      },
    };
    return planner.planWide(text, context).print(() => ({ ...published, ...table }));
  };
  const prints = (text: string, expected: string): void =>
    assert.equal(print(text), expected, text);
  const condition = (text: string, expected: string): void =>
    prints(
      `SELECT count(*) FROM cpu WHERE ${text}`,
      `SELECT g1."v0" AS c0 FROM (SELECT count(*) AS v0 FROM ${TABLE} AS r0 WHERE ${expected}) AS g1`,
    );
  const expression = (text: string, expected: string): void =>
    prints(
      `SELECT ${text} AS x FROM cpu ORDER BY n`,
      `SELECT ${expected} AS c0 FROM ${TABLE} AS r0 ORDER BY r0."n" ASC NULLS LAST`,
    );
  const refuses = (text: string, message: string): void =>
    assert.throws(() => print(text), { kind: 'plan_error', message }, text);

  it('compares times as integers', () => {
    condition("time >= '1970-01-01T00:00:01Z'", `(r0."time_ns" >= BIGINT '1000000000')`);
    condition('time < 5', `(r0."time_ns" < BIGINT '5')`);
    condition(
      "time > now() - INTERVAL '1 hour'",
      `(r0."time_ns" > BIGINT '${NOW_NS - 3_600_000_000_000n}')`,
    );
    expression("time + INTERVAL '1 minute'", `(r0."time_ns" + BIGINT '60000000000')`);
  });

  it('prints bins as floor division', () => {
    const place = `mod(mod(r0."time_ns", ${HOUR}) + BIGINT '7200000000000', ${HOUR})`;
    const bin = `(greatest(r0."time_ns", BIGINT '-9223372036854775806' + ${place}) - ${place})`;
    expression("date_bin(INTERVAL '1 hour', time)", bin);
    expression("date_trunc('hour', time)", bin);
    const day = `CAST(from_unixtime_nanos(r0."time_ns") AS date)`;
    expression("date_part('month', time)", `month(${day})`);
    const days = `date_diff('day', DATE '1970-01-01', date_trunc('month', ${day}))`;
    expression(
      "date_trunc('month', time)",
      `if(${days} < BIGINT '-106751', BIGINT '-9223372036854775806', ${days} * BIGINT '86400000000000')`,
    );
  });

  it('prints operands in the types in which DataFusion computes', () => {
    condition('usage > 1', `(r0."usage" > DOUBLE '1')`);
    condition('n = usage', `(CAST(r0."n" AS double) = r0."usage")`);
    condition(
      "host IN ('a', 'it''s') AND n NOT IN (1, 2)",
      [`((r0."host" IN ('a', 'it''s'))`, ` AND (NOT (r0."n" IN (BIGINT '1', BIGINT '2'))))`].join(
        '',
      ),
    );
    condition('ok IS NOT TRUE', '(r0."ok" IS DISTINCT FROM TRUE)');
    condition("host LIKE 'a\\_%'", `(r0."host" LIKE 'a\\_%' ESCAPE '\\')`);
    expression('n / 2', `(r0."n" / BIGINT '2')`);
    expression('n * 1.5', `(CAST(r0."n" AS double) * DOUBLE '1.5')`);
    expression('-usage', '(-r0."usage")');
    expression('CAST(usage AS BIGINT)', 'CAST(truncate(r0."usage") AS bigint)');
    expression('CAST(time AS BIGINT)', 'r0."time_ns"');
    expression(
      'CASE WHEN n > 1 THEN usage ELSE 0 END',
      [`(CASE WHEN (r0."n" > BIGINT '1') THEN r0."usage" ELSE DOUBLE '0' END)`].join(''),
    );
    expression('coalesce(n, usage)', 'coalesce(CAST(r0."n" AS double), r0."usage")');
    expression("host || '-' || s", `((r0."host" || '-') || r0."s")`);
    expression('sqrt(n)', 'sqrt(CAST(r0."n" AS double))');
    expression('trim(s)', `trim(BOTH ' ' FROM r0."s")`);
  });

  it('prints parameters as literals', () => {
    const text = print(
      'SELECT n FROM cpu WHERE host = $h AND usage > $u ORDER BY n',
      {},
      {
        ...{ h: "o'clock", u: 2.5 },
      },
    );
    assert.match(text, /\(r0\."host" = 'o''clock'\) AND \(r0\."usage" > DOUBLE '2\.5'\)/);
  });

  it('groups in a query of its own', () => {
    prints(
      'SELECT host, avg(n) AS a, count(DISTINCT s) FROM cpu GROUP BY host HAVING max(usage) > 1 ORDER BY a DESC LIMIT 3 OFFSET 1',
      [
        'SELECT g1."k0" AS c0, g1."v0" AS c1, g1."v1" AS c2 FROM (',
        'SELECT r0."host" AS k0, avg(CAST(r0."n" AS double)) AS v0, count(DISTINCT r0."s") AS v1, ',
        `max(r0."usage") AS v2 FROM ${TABLE} AS r0 GROUP BY 1) AS g1 WHERE (g1."v2" > DOUBLE '1') `,
        'ORDER BY 2 DESC NULLS FIRST OFFSET 1 LIMIT 3',
      ].join(''),
    );
  });

  it('orders plain rows by time like the local query', () => {
    prints(
      'SELECT n, "Host" FROM cpu LIMIT 2',
      `SELECT r0."n" AS c0, r0."Host__2" AS c1 FROM ${TABLE} AS r0 ORDER BY r0."time_ns" ASC NULLS LAST LIMIT 2`,
    );
  });

  it('prints common tables, joins, subqueries, set operations and windows', () => {
    prints(
      'WITH w AS (SELECT host, n FROM cpu) SELECT count(*) FROM w JOIN cpu c ON w.host = c.host',
      [
        `WITH w0(c0, c1) AS (SELECT r1."host" AS c0, r1."n" AS c1 FROM ${TABLE} AS r1) `,
        `SELECT g4."v0" AS c0 FROM (SELECT count(*) AS v0 FROM (w0 AS r2 INNER JOIN ${TABLE} AS r3 `,
        'ON (r2."c0" = r3."host"))) AS g4',
      ].join(''),
    );
    prints(
      'SELECT n FROM cpu UNION ALL SELECT usage FROM cpu',
      [
        `(SELECT CAST(r2."c0" AS double) AS c0 FROM (SELECT r0."n" AS c0 FROM ${TABLE} AS r0) AS r2) `,
        `UNION ALL (SELECT r1."usage" AS c0 FROM ${TABLE} AS r1)`,
      ].join(''),
    );
    expression(
      'lag(n) OVER (PARTITION BY host ORDER BY time DESC)',
      'lag(r0."n") OVER (PARTITION BY r0."host" ORDER BY r0."time_ns" DESC NULLS FIRST)',
    );
    prints(
      'SELECT n FROM cpu WHERE n IN (SELECT n FROM cpu c) ORDER BY n',
      [
        `SELECT r0."n" AS c0 FROM ${TABLE} AS r0 WHERE (r0."n" IN (SELECT q2."c0" FROM `,
        `(SELECT r1."n" AS c0 FROM ${TABLE} AS r1) AS q2)) ORDER BY 1 ASC NULLS LAST`,
      ].join(''),
    );
  });

  it('hides expired rows and reads an unpublished table as empty', () => {
    assert.equal(
      print('SELECT n FROM cpu ORDER BY n', { visibleFromNs: 7n }),
      `SELECT r0."n" AS c0 FROM (SELECT * FROM ${TABLE} WHERE "time_ns" >= BIGINT '7') AS r0 ORDER BY 1 ASC NULLS LAST`,
    );
    assert.match(
      print('SELECT n FROM cpu ORDER BY n', { path: undefined }),
      /FROM \(SELECT .*CAST\(NULL AS bigint\) AS "n".* WHERE FALSE\) AS r0/,
    );
  });

  it('rejects everything that is not verified, by name', () => {
    refuses(
      'SELECT median(n) FROM cpu',
      'function median is not verified for trino; omit engine=trino',
    );
    refuses(
      "SELECT regexp_like(s, 'a') AS x FROM cpu",
      'function regexp_like is not verified for trino; omit engine=trino',
    );
    refuses(
      'SELECT greatest(n, 1) AS x FROM cpu',
      'function greatest is not verified for trino; omit engine=trino',
    );
    refuses('SELECT u FROM cpu', 'column u is not published, so Trino cannot read it');
    refuses(
      'SELECT power(n, 2) AS x FROM cpu',
      'function power of integers is not verified for trino; omit engine=trino',
    );
    refuses(
      'SELECT first_value(n ORDER BY time) FROM cpu',
      'expression first_value(cpu.n) ORDER BY [cpu.time ASC NULLS LAST] is not verified for trino; omit engine=trino',
    );
    refuses(
      "SELECT date_bin_gapfill(INTERVAL '1 hour', time) AS t, count(*) FROM cpu WHERE time > 0 AND time < 9 GROUP BY t",
      'gap filling is not verified for trino; omit engine=trino',
    );
    refuses(
      'SELECT DISTINCT ON (host) host FROM cpu',
      'DISTINCT ON is not verified for trino; omit engine=trino',
    );
    refuses(
      'SELECT * FROM (VALUES (1)) t(x)',
      'VALUES is not verified for trino; omit engine=trino',
    );
    refuses('EXPLAIN SELECT n FROM cpu', 'EXPLAIN is not verified for trino; omit engine=trino');
    refuses('SHOW TABLES', 'a virtual table is not verified for trino; omit engine=trino');
    refuses(
      'SELECT CAST(s AS BIGINT) AS x FROM cpu',
      'a cast from Utf8 to Int64 is not verified for trino; omit engine=trino',
    );
    refuses(
      "SELECT n FROM cpu WHERE s LIKE '\\a'",
      'LIKE with the escape character \\ before an ordinary character is not verified for trino; use it only before %, _ and \\, or omit engine=trino',
    );
  });

  it('rejects comparisons of values that can be NaN', () => {
    const message =
      'comparing, ordering or grouping values that can be NaN is not verified for trino; omit engine=trino';
    for (const text of [
      'SELECT n FROM cpu WHERE sqrt(usage) > 1',
      'SELECT n FROM cpu WHERE usage / usage IN (1.0, 2.0)',
      'SELECT n FROM cpu WHERE usage IN (SELECT ln(usage) FROM cpu c)',
      'SELECT n FROM cpu WHERE usage / n IS DISTINCT FROM 1',
      'SELECT max(usage / n) FROM cpu',
      'SELECT min(usage % n) AS m FROM cpu GROUP BY host',
      'SELECT count(DISTINCT acos(usage)) FROM cpu',
      'SELECT DISTINCT usage / n AS x FROM cpu',
      'SELECT usage / n AS x FROM cpu ORDER BY x',
      'SELECT n FROM cpu ORDER BY log10(usage)',
      'SELECT asin(usage) AS k, count(*) FROM cpu GROUP BY k',
      'SELECT nullif(usage / n, 1) AS x FROM cpu',
      'SELECT CASE sqrt(usage) WHEN 1 THEN 2 END AS x FROM cpu',
      'SELECT x FROM (SELECT usage / n AS x FROM cpu) t WHERE x > 1',
      'WITH w AS (SELECT sqrt(usage) AS x FROM cpu) SELECT a.x FROM w a JOIN w b ON a.x = b.x',
      'SELECT host FROM cpu GROUP BY host HAVING sum(usage) / count(*) > 1',
      'SELECT sqrt(usage) AS x FROM cpu UNION SELECT usage FROM cpu',
      'SELECT row_number() OVER (ORDER BY usage / n) AS x FROM cpu',
      'SELECT sum(n) OVER (PARTITION BY usage / n) AS x FROM cpu',
      'SELECT n FROM cpu WHERE (usage * usage) - (usage * usage) > 0',
      'SELECT n FROM cpu WHERE (usage * usage) * usage > 0',
      'SELECT n FROM cpu WHERE sin(usage * usage) > 0',
    ])
      refuses(text, message);
  });

  it('allows NaN in the select list, and comparisons of numbers', () => {
    for (const text of [
      'SELECT usage / n AS x, sqrt(usage) AS y FROM cpu ORDER BY n',
      'SELECT x FROM (SELECT usage / n AS x, n FROM cpu) t ORDER BY n',
      'SELECT sqrt(usage) AS x FROM cpu UNION ALL SELECT usage FROM cpu',
      'SELECT host, avg(usage) AS a FROM cpu GROUP BY host HAVING sum(usage) > 1 ORDER BY a',
      'SELECT n FROM cpu WHERE usage * 2 + 1 > n / 3.0 AND abs(usage - n) < 1.5 AND usage % 2 = 1',
      'SELECT host, stddev(usage) AS s FROM cpu GROUP BY host ORDER BY s',
      'SELECT DISTINCT cos(usage) AS x, atan2(usage, n) AS y FROM cpu',
    ])
      assert.ok(print(text).startsWith('SELECT ') || print(text).startsWith('(SELECT '), text);
  });

  it('rejects functions and types with other results in Trino', () => {
    const values = 'values that can be infinite';
    const cases: readonly (readonly [text: string, what: string, fix?: string])[] = [
      ['SELECT power(usage, n / usage) AS x FROM cpu', `function power of ${values}`],
      ['SELECT covar_pop(usage, usage * 9) AS x FROM cpu', `function covar_pop of ${values}`],
      ['SELECT stddev(exp(usage)) AS x FROM cpu', `function stddev of ${values}`],
      ['SELECT log2(usage) AS x FROM cpu', 'function log2'],
      ['SELECT signum(usage) AS x FROM cpu', 'function signum'],
      [
        'SELECT sum(n) FILTER (WHERE ok) OVER () AS x FROM cpu',
        'function sum with FILTER and OVER',
      ],
      [
        'SELECT lag(n) OVER (PARTITION BY host) AS x FROM cpu',
        'function lag without ORDER BY',
        'add ORDER BY',
      ],
      ['SELECT lead(n) OVER () AS x FROM cpu', 'function lead without ORDER BY', 'add ORDER BY'],
      [
        'SELECT row_number() OVER () AS x FROM cpu',
        'function row_number without ORDER BY',
        'add ORDER BY',
      ],
      ['SELECT CAST(ok AS SMALLINT) AS x FROM cpu', 'type Int16'],
      ['SELECT CAST(ok AS INT UNSIGNED) AS x FROM cpu', 'type UInt32'],
      ['SELECT CAST(n AS INT) AS x FROM cpu', 'a cast from Int64 to Int32'],
      ['SELECT avg(time - time) AS x FROM cpu', 'function avg of Duration(Nanosecond)'],
      [
        'SELECT rank() OVER (ORDER BY n) - rank() OVER (ORDER BY s) AS x FROM cpu',
        'arithmetic with unsigned integers',
      ],
      [
        'SELECT n FROM cpu WHERE EXISTS (SELECT 1 FROM cpu c WHERE c.n = cpu.n)',
        'a correlated subquery',
      ],
      [
        'SELECT host, (SELECT max(c.n) FROM cpu c WHERE c.host = cpu.host) AS x FROM cpu',
        'a correlated subquery',
      ],
      [
        'SELECT substr(s, -1) AS x FROM cpu',
        'function substr with the position -1',
        'use a position of at least 1',
      ],
      [
        'SELECT lag(n, -2) OVER (ORDER BY time) AS x FROM cpu',
        'function lag with the distance -2',
        'use a distance of at least 0',
      ],
      [
        "SELECT replace(s, '', 'x') AS x FROM cpu",
        'function replace of an empty string or of NULL',
        'search for a string that is not empty',
      ],
      ['SELECT n FROM cpu WHERE s LIKE host', 'LIKE with a pattern that is not a constant'],
    ];
    for (const [text, what, fix] of cases)
      refuses(
        text,
        `${what} is not verified for trino; ${fix ? `${fix}, or ` : ''}omit engine=trino`,
      );
  });

  it('prints WITH in a set operation as a query in FROM', () => {
    const scan = `SELECT r0."n" AS c0 FROM ${TABLE} AS r0`;
    assert.equal(
      print('(WITH w AS (SELECT n FROM cpu) SELECT n FROM w) UNION ALL SELECT n FROM cpu'),
      [
        `(SELECT * FROM (WITH w0(c0) AS (${scan.replaceAll('r0', 'r1')}) SELECT r2."c0" AS c0 FROM w0 AS r2)) `,
        `UNION ALL (${scan.replaceAll('r0', 'r3')})`,
      ].join(''),
    );
  });

  it('reports the errors of the local planner', () => {
    refuses(
      'SELECT x FROM cpu',
      'Schema error: No field named x. Valid fields are cpu.Host, cpu.host, cpu.n, cpu.ok, cpu.s, cpu.time, cpu.u, cpu.usage.',
    );
  });
});
