// Source: docs/CONSOLE-EXPLORE.md, "Build a query".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addCondition } from '../add-condition.js';
import { plotQuery } from '../plot-query.js';
import {
  AGGREGATES,
  type BuilderQuery,
  EVERY_AUTO,
  OPERATORS,
  takesValue,
  writeBuilderQuery,
} from './builder-query.js';
import { readBuilderQuery } from './read-builder-query.js';

const CPU: BuilderQuery = {
  table: 'cpu',
  fields: [{ name: 'usage', aggregate: 'avg' }],
  conditions: [],
  groupBy: ['host'],
  every: EVERY_AUTO,
};

const PLAIN = `SELECT date_bin(\${interval}, time) AS time, host, avg(usage) AS usage
FROM cpu
WHERE time >= \${from} AND time < \${to}
GROUP BY 1, host
ORDER BY 1`;

it('writes SQL', () => {
  assert.equal(writeBuilderQuery(CPU), PLAIN);
  assert.equal(
    writeBuilderQuery({
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
    }),
    `SELECT date_bin(INTERVAL '5 minutes', time) AS time, last_value(free ORDER BY time) AS free_last, approx_percentile_cont(free, 0.95) AS free_p95, count("order") AS "order"
FROM "Disk IO"
WHERE time >= \${from} AND time < \${to} AND host = 'it''s' AND (free IS DISTINCT FROM -1.5) AND path IS NOT NULL
GROUP BY 1
ORDER BY 1`,
  );
  assert.equal(
    writeBuilderQuery({ ...CPU, every: '' }),
    `SELECT host, avg(usage) AS usage
FROM cpu
WHERE time >= \${from} AND time < \${to}
GROUP BY host
ORDER BY 1`,
  );
});

it('writes a rate as the difference of buckets', () => {
  assert.equal(
    writeBuilderQuery({ ...CPU, fields: [{ name: 'total', aggregate: 'rate' }] }),
    `WITH buckets AS (
  SELECT date_bin(\${interval}, time) AS time, host, CAST(max(total) AS DOUBLE) AS total
  FROM cpu
  WHERE time >= \${from} AND time < \${to}
  GROUP BY 1, host
)
SELECT time, host, greatest(total - lag(total) OVER (PARTITION BY host ORDER BY time), 0) / (date_part('epoch', time) - lag(date_part('epoch', time)) OVER (PARTITION BY host ORDER BY time)) AS total
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
          assert.deepEqual(readBuilderQuery(writeBuilderQuery(query)), query);
        }
  for (const operator of OPERATORS)
    for (const literal of [`'AND x = ''1'''`, `' ORDER BY FROM '`, '5', '-2.5', 'true']) {
      const condition = { column: 'x', operator, literal: takesValue(operator) ? literal : '' };
      const query = { ...CPU, conditions: [condition, condition] };
      assert.deepEqual(readBuilderQuery(writeBuilderQuery(query)), query);
    }
});

it('reads the Plot query and conditions that filters of the result add', () => {
  const plotted = plotQuery({ table: 'cpu', field: 'usage', tags: ['host'] }, 'sql');
  assert.deepEqual(readBuilderQuery(plotted), CPU);
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
    assert.deepEqual(readBuilderQuery(edit.text)?.conditions, [
      { column: 'host', operator, literal },
    ]);
  }
});

it('accepts other spaces, line ends and cases of words', () => {
  const text = PLAIN.replaceAll('\n', '   ').replace('SELECT', 'select').replace('avg', 'AVG');
  assert.deepEqual(readBuilderQuery(`${text} ;`), CPU);
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
    assert.equal(readBuilderQuery(text), undefined, text);
});
