// Source: docs/CONSOLE-EXPLORE.md, "Build a query".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addCondition } from '../add-condition.js';
import { plotQuery } from '../plot-query.js';
import {
  AGGREGATES,
  type BuilderQuery,
  EVERY_AUTO,
  type OPERATORS,
  operatorsOf,
  takesValue,
} from './builder-query.js';
import { readBuilderQuery } from './read-builder-query.js';
import { translated, writeBuilderQuery } from './write-builder-query.js';

const CPU: BuilderQuery = {
  table: 'cpu',
  fields: [{ name: 'usage', aggregate: 'avg' }],
  conditions: [],
  groupBy: ['host'],
  every: EVERY_AUTO,
};

const LANGUAGES = ['sql', 'influxql'] as const;

const PLAIN = `SELECT date_bin(\${interval}, time) AS time, host, avg(usage) AS usage
FROM cpu
WHERE time >= \${from} AND time < \${to}
GROUP BY 1, host
ORDER BY 1`;

it('writes SQL', () => {
  assert.equal(writeBuilderQuery(CPU, 'sql'), PLAIN);
  assert.equal(
    writeBuilderQuery(
      {
        table: 'Disk IO',
        fields: [
          { name: 'free', aggregate: 'last' },
          { name: 'free', aggregate: 'p95' },
          { name: 'order', aggregate: 'count' },
        ],
        conditions: [
          { column: 'host', operator: '=', literal: "'it''s'" },
          { column: 'free', operator: '!=', literal: '-1.5' },
          { column: 'path', operator: 'IS NOT NULL', literal: '' },
        ],
        groupBy: [],
        every: '5 minutes',
      },
      'sql',
    ),
    `SELECT date_bin(INTERVAL '5 minutes', time) AS time, last_value(free ORDER BY time) AS free_last, approx_percentile_cont(free, 0.95) AS free_p95, count("order") AS order_count
FROM "Disk IO"
WHERE time >= \${from} AND time < \${to} AND host = 'it''s' AND (free IS DISTINCT FROM -1.5) AND path IS NOT NULL
GROUP BY 1
ORDER BY 1`,
  );
  assert.equal(
    writeBuilderQuery({ ...CPU, every: '' }, 'sql'),
    `SELECT host, avg(usage) AS usage
FROM cpu
WHERE time >= \${from} AND time < \${to}
GROUP BY host
ORDER BY 1`,
  );
});

it('writes a rate as the difference of buckets', () => {
  assert.equal(
    writeBuilderQuery({ ...CPU, fields: [{ name: 'total', aggregate: 'rate' }] }, 'sql'),
    `WITH buckets AS (
  SELECT date_bin(\${interval}, time) AS time, host, CAST(max(total) AS DOUBLE) AS total_rate, max(time) AS last_time
  FROM cpu
  WHERE time >= \${from} AND time < \${to}
  GROUP BY 1, host
)
SELECT time, host, greatest(total_rate - lag(total_rate) OVER (PARTITION BY host ORDER BY time), 0) / (date_part('epoch', last_time) - lag(date_part('epoch', last_time)) OVER (PARTITION BY host ORDER BY time)) AS total_rate
FROM buckets
ORDER BY 1`,
  );
});

it('reads back everything that it writes', () => {
  for (const every of [EVERY_AUTO, '10 seconds', ''])
    for (const groupBy of [[], ['host'], ['host', 'Region "a"']])
      for (const first of AGGREGATES)
        for (const second of [undefined, ...AGGREGATES]) {
          // A rate needs buckets.
          if (every === '' && (first === 'rate' || second === 'rate')) continue;
          // The same column twice with the same aggregate has no use, but must not lose one.
          const fields = [
            { name: 'usage', aggregate: first },
            ...(second === undefined ? [] : [{ name: 'usage', aggregate: second }]),
          ];
          const query: BuilderQuery = { ...CPU, table: 'Disk.x', fields, groupBy, every };
          for (const language of LANGUAGES)
            assert.deepEqual(readBuilderQuery(writeBuilderQuery(query, language), language), query);
        }
  const literals = [`'AND x = ''1'''`, `' ORDER BY FROM '`, `'a\\b\nc'`, '5', '-2.5', 'true'];
  for (const language of LANGUAGES)
    for (const operator of operatorsOf(language))
      for (const literal of literals) {
        const condition = { column: 'x', operator, literal: takesValue(operator) ? literal : '' };
        const query = { ...CPU, conditions: [condition, condition] };
        assert.deepEqual(readBuilderQuery(writeBuilderQuery(query, language), language), query);
      }
});

it('reads the Plot query and conditions that filters of the result add', () => {
  const plotted = plotQuery({ table: 'cpu', field: 'usage', tags: ['host'] }, 'sql');
  assert.deepEqual(readBuilderQuery(plotted, 'sql'), CPU);
  const schema = [
    {
      name: 'cpu',
      columns: [
        { name: 'host', kind: 'tag' },
        { name: 'usage', kind: 'float64' },
      ],
    },
  ];
  for (const [text, isOut, operator, literal] of [
    ["a'b", false, '=', "'a''b'"],
    ['a', true, '!=', "'a'"],
    [null, false, 'IS NULL', ''],
    [null, true, 'IS NOT NULL', ''],
  ] as const) {
    const columnValues = [{ column: 'host', text }];
    const edit = addCondition(plotted, { language: 'sql', schema, columnValues, isOut });
    assert.ok(edit?.kind === 'edited');
    assert.deepEqual(readBuilderQuery(edit.text, 'sql')?.conditions, [
      { column: 'host', operator, literal },
    ]);
  }
});

it('accepts other spaces, line ends and cases of words', () => {
  const text = PLAIN.replaceAll('\n', '   ').replace('SELECT', 'select').replace('avg', 'AVG');
  assert.deepEqual(readBuilderQuery(`${text} ;`, 'sql'), CPU);
});

it('refuses every statement that it would not write', () => {
  for (const text of [
    '',
    'SELECT 1',
    PLAIN.replace('ORDER BY 1', ''),
    PLAIN.replace('ORDER BY 1', 'ORDER BY 1 LIMIT 5'),
    PLAIN.replace('avg(usage)', 'avg(usage * 2)'),
    PLAIN.replace('avg(usage)', 'avg(DISTINCT usage)'),
    PLAIN.replace('avg(usage)', 'median(usage)'),
    PLAIN.replace('AS usage', 'AS other'),
    PLAIN.replace('AS usage', 'AS usage, max(time) AS last_time'),
    PLAIN.replace('AS usage', ''),
    PLAIN.replace('GROUP BY 1, host', 'GROUP BY 1'),
    PLAIN.replace('FROM cpu', 'FROM cpu c'),
    PLAIN.replace('FROM cpu', 'FROM iox.cpu'),
    PLAIN.replace('time < ${to}', 'time <= ${to}'),
    PLAIN.replace('\nGROUP', " AND host = 'a' OR 1 = 1\nGROUP"),
    PLAIN.replace('\nGROUP', " AND host = 'a' OR (usage > 1)\nGROUP"),
    PLAIN.replace('\nGROUP', ' AND usage > 1 + 1\nGROUP'),
    PLAIN.replace('\nGROUP', ' AND usage BETWEEN 1 AND 2\nGROUP'),
    PLAIN.replace('\nGROUP', ' AND usage = other\nGROUP'),
    `${PLAIN} -- why`,
    `${PLAIN}; SELECT 1`,
    `EXPLAIN ${PLAIN}`,
    `${PLAIN} UNION ${PLAIN}`,
    PLAIN.slice(0, -12),
    "SELECT '",
  ])
    assert.equal(readBuilderQuery(text, 'sql'), undefined, text);
});

const INFLUXQL = `SELECT mean(usage) AS usage
FROM cpu
WHERE time >= \${from} AND time < \${to}
GROUP BY time(\${interval}), host fill(null)`;

it('writes InfluxQL', () => {
  assert.equal(writeBuilderQuery(CPU, 'influxql'), INFLUXQL);
  assert.equal(
    writeBuilderQuery(
      {
        table: 'Disk IO',
        fields: [
          { name: 'free', aggregate: 'last' },
          { name: 'free', aggregate: 'p95' },
          { name: 'Reads', aggregate: 'rate' },
        ],
        conditions: [
          { column: 'host', operator: '=', literal: "'it''s'" },
          { column: 'free', operator: '!=', literal: '-1.5' },
        ],
        groupBy: [],
        every: '5 minutes',
      },
      'influxql',
    ),
    `SELECT last(free) AS free_last, percentile(free, 95) AS free_p95, non_negative_derivative(max(Reads), 1s) AS Reads_rate
FROM "Disk IO"
WHERE time >= \${from} AND time < \${to} AND host = 'it\\'s' AND free != -1.5
GROUP BY time(5m) fill(null)`,
  );
  const whole = { ...CPU, every: '', groupBy: [] };
  assert.equal(writeBuilderQuery(whole, 'influxql'), INFLUXQL.split('\nGROUP')[0]);
});

it('reads the InfluxQL Plot query, other cases of keywords, and conditions of filters', () => {
  const plotted = plotQuery({ table: 'cpu', field: 'usage', tags: ['host'] }, 'influxql');
  assert.deepEqual(readBuilderQuery(plotted, 'influxql'), CPU);
  const text = INFLUXQL.replace('SELECT mean', 'select MEAN').replaceAll('\n', '  ');
  assert.deepEqual(readBuilderQuery(`${text};`, 'influxql'), CPU);
  // Names have a case.
  const upper = INFLUXQL.replace('FROM cpu', 'FROM CPU');
  assert.equal(readBuilderQuery(upper, 'influxql')?.table, 'CPU');
  const schema = [{ name: 'cpu', columns: [{ name: 'host', kind: 'tag' }] }];
  const columnValues = [{ column: 'host', text: "a'b" }];
  const edit = addCondition(plotted, { language: 'influxql', schema, columnValues, isOut: true });
  assert.ok(edit?.kind === 'edited');
  assert.deepEqual(readBuilderQuery(edit.text, 'influxql')?.conditions, [
    { column: 'host', operator: '!=', literal: "'a''b'" },
  ]);
});

it('refuses every InfluxQL statement that it would not write', () => {
  for (const text of [
    '',
    'SHOW DATABASES',
    'SELECT * FROM cpu',
    INFLUXQL.replace(' fill(null)', ''),
    INFLUXQL.replace('fill(null)', 'fill(previous)'),
    INFLUXQL.replace('fill(null)', 'fill(null) LIMIT 5'),
    INFLUXQL.replace('fill(null)', "fill(null) tz('Europe/Berlin')"),
    INFLUXQL.replace('mean(usage)', 'mean(usage) * 2'),
    INFLUXQL.replace('mean(usage)', 'median(usage)'),
    INFLUXQL.replace('mean(usage)', 'percentile(usage, 99)'),
    INFLUXQL.replace('mean(usage)', 'non_negative_derivative(max(usage), 1m)'),
    INFLUXQL.replace('mean(usage)', 'mean(/us.*/)'),
    INFLUXQL.replace('AS usage', 'AS other'),
    INFLUXQL.replace('FROM cpu', 'FROM autogen.cpu'),
    INFLUXQL.replace('FROM cpu', 'FROM cpu, mem'),
    INFLUXQL.replace('FROM cpu', 'FROM (SELECT usage FROM cpu)'),
    INFLUXQL.replace('time(${interval})', 'time(${interval}, 1m)'),
    INFLUXQL.replace('time(${interval})', 'time(1y)'),
    INFLUXQL.replace('host fill', '* fill'),
    INFLUXQL.replace('\nGROUP', ' AND host =~ /a/\nGROUP'),
    INFLUXQL.replace('\nGROUP', " AND host = 'a' OR usage > 1\nGROUP"),
    INFLUXQL.replace('\nGROUP', " AND (host = 'a')\nGROUP"),
    INFLUXQL.replace('\nGROUP', ' AND usage > 1 + 1\nGROUP'),
    INFLUXQL.replace('\nGROUP', ' AND usage > 5m\nGROUP'),
    `${INFLUXQL} -- why`,
    `${INFLUXQL}; ${INFLUXQL}`,
    PLAIN,
  ])
    assert.equal(readBuilderQuery(text, 'influxql'), undefined, text);
  assert.equal(readBuilderQuery(INFLUXQL, 'sql'), undefined);
});

it('translates between the languages what both can express', () => {
  assert.equal(translated(CPU, 'influxql'), INFLUXQL);
  assert.equal(translated(CPU, 'sql'), PLAIN);
  const where = (operator: (typeof OPERATORS)[number], literal: string): BuilderQuery => ({
    ...CPU,
    conditions: [{ column: 'x', operator, literal }],
  });
  assert.ok(translated(where('<', '5'), 'influxql')?.includes('AND x < 5'));
  for (const query of [
    where('LIKE', "'a%'"),
    where('IS NULL', ''),
    where('<', '1e5'),
    { ...CPU, every: '1 month' },
  ])
    assert.equal(translated(query, 'influxql'), undefined);
  assert.ok(translated(where('LIKE', "'a%'"), 'sql') !== undefined);
});
