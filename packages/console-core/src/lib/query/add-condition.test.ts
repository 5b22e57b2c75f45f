import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addCondition, addRange } from './add-condition.js';
import type { Language } from './macros.js';

const schema = [
  {
    name: 'cpu',
    columns: [
      { name: 'host', kind: 'tag' },
      { name: 'Data Center', kind: 'tag' },
      { name: 'usage', kind: 'float64' },
      { name: 'n', kind: 'int64' },
      { name: 'ok', kind: 'bool' },
      { name: 'note', kind: 'utf8' },
      { name: 'time', kind: 'time' },
    ],
  },
];

const edit = (
  typed: string,
  column: string,
  text: string | null,
  { isOut = false, language = 'sql' as Language } = {},
) => addCondition(typed, { language, schema, columnValues: [{ column, text }], isOut });

const edited = (...given: Parameters<typeof edit>): string => {
  const found = edit(...given);
  assert.equal(found?.kind, 'edited', JSON.stringify(found));
  return found.kind === 'edited' ? found.text : '';
};

describe('a condition on a value', () => {
  it('is added after existing conditions and before the following clauses', () => {
    for (const [before, after] of [
      ['SELECT * FROM cpu', "SELECT * FROM cpu WHERE host = 'a'"],
      ['select host from cpu ;', "select host from cpu WHERE host = 'a' ;"],
      [
        'SELECT * FROM cpu\nORDER BY time DESC\nLIMIT 100',
        "SELECT * FROM cpu\nWHERE host = 'a'\nORDER BY time DESC\nLIMIT 100",
      ],
      [
        'SELECT host, usage FROM cpu c WHERE time >= ${from} AND time < ${to} GROUP BY 1',
        "SELECT host, usage FROM cpu c WHERE time >= ${from} AND time < ${to} AND host = 'a' GROUP BY 1",
      ],
      [
        'SELECT * FROM cpu WHERE usage > 1 -- all of it\nLIMIT 3',
        "SELECT * FROM cpu WHERE usage > 1 AND host = 'a' -- all of it\nLIMIT 3",
      ],
      [
        "SELECT * FROM cpu WHERE note = 'x or y' OR usage = 1 LIMIT 3",
        "SELECT * FROM cpu WHERE (note = 'x or y' OR usage = 1) AND host = 'a' LIMIT 3",
      ],
      [
        'SELECT * FROM cpu WHERE (usage = 2 OR usage = 1) AND n BETWEEN 1 AND 2',
        "SELECT * FROM cpu WHERE (usage = 2 OR usage = 1) AND n BETWEEN 1 AND 2 AND host = 'a'",
      ],
      [
        'SELECT DISTINCT host, n IS DISTINCT FROM 1 AS x FROM cpu',
        "SELECT DISTINCT host, n IS DISTINCT FROM 1 AS x FROM cpu WHERE host = 'a'",
      ],
      [
        'SELECT * FROM cpu WHERE n IS DISTINCT FROM 1',
        "SELECT * FROM cpu WHERE (n IS DISTINCT FROM 1) AND host = 'a'",
      ],
      [
        'SELECT max(usage), host FROM public.cpu AS c GROUP BY host',
        "SELECT max(usage), host FROM public.cpu AS c WHERE host = 'a' GROUP BY host",
      ],
    ] as const)
      assert.equal(edited(before, 'host', 'a'), after);
  });

  it('uses literals of the column type, and quotes names where needed', () => {
    const of = (column: string, text: string | null, isOut = false): string =>
      edited('SELECT * FROM cpu', column, text, { isOut }).slice('SELECT * FROM cpu WHERE '.length);
    assert.equal(of('host', "it's"), "host = 'it''s'");
    assert.equal(of('Data Center', 'x'), `"Data Center" = 'x'`);
    assert.equal(of('n', '9223372036854775807'), 'n = 9223372036854775807');
    assert.equal(of('usage', '1e+21'), 'usage = 1e+21');
    assert.equal(of('ok', 'true', true), '(ok IS DISTINCT FROM true)');
    assert.equal(of('note', null), 'note IS NULL');
    assert.equal(of('note', null, true), 'note IS NOT NULL');
    assert.equal(
      of('time', '2023-11-14 22:13:20.123456789'),
      "time = TIMESTAMP '2023-11-14T22:13:20.123456789Z'",
    );
    assert.equal(edit('SELECT * FROM cpu', 'usage', 'NaN'), undefined);
  });

  it('follows the syntax of InfluxQL', () => {
    const language = 'influxql';
    assert.equal(
      edited(
        'SELECT mean(usage) FROM cpu WHERE host =~ /a or b/ GROUP BY host fill(null)',
        'host',
        "a'b",
        {
          language,
        },
      ),
      "SELECT mean(usage) FROM cpu WHERE host =~ /a or b/ AND host = 'a\\'b' GROUP BY host fill(null)",
    );
    assert.equal(
      edited('SELECT n::field FROM db..cpu', 'n', '3', { language, isOut: true }),
      'SELECT n::field FROM db..cpu WHERE n != 3',
    );
    assert.equal(
      edited('SELECT * FROM cpu', 'host', null, { language }),
      "SELECT * FROM cpu WHERE host = ''",
    );
    assert.equal(edit('SELECT * FROM cpu', 'note', null, { language }), undefined);
  });

  it('uses the column behind an alias, never a computed value', () => {
    assert.equal(
      edited('SELECT host AS h FROM cpu', 'h', 'a'),
      "SELECT host AS h FROM cpu WHERE host = 'a'",
    );
    assert.equal(
      edited('SELECT c.HOST h FROM cpu c', 'h', 'a'),
      "SELECT c.HOST h FROM cpu c WHERE host = 'a'",
    );
    for (const [typed, column] of [
      ['SELECT avg(usage) AS usage FROM cpu', 'usage'],
      ['SELECT avg(usage) usage FROM cpu', 'usage'],
      ["SELECT date_bin(INTERVAL '1 h', time) AS time FROM cpu", 'time'],
      ['SELECT count(*) FROM cpu', 'count(*)'],
      ['SELECT usage FROM cpu', 'host'],
      ['SELECT * FROM elsewhere', 'host'],
    ] as const)
      assert.equal(edit(typed, column, '1')?.kind, 'unsafe', typed);
  });

  it('is returned without the statement when the statement is not simple', () => {
    for (const typed of [
      'SELECT * FROM cpu UNION ALL SELECT * FROM cpu',
      'WITH c AS (SELECT * FROM cpu) SELECT * FROM c',
      'SELECT * FROM cpu, mem',
      'SELECT * FROM cpu JOIN mem USING (host)',
      'SELECT * FROM (SELECT * FROM cpu)',
      'SELECT * FROM cpu; SELECT 1',
      "SELECT * FROM cpu WHERE note = 'open",
      'SELECT * FROM cpu WHERE (host',
      'SHOW TABLES',
      "SELECT * FROM last_cache('cpu')",
    ]) {
      const found = edit(typed, 'host', 'a');
      assert.deepEqual(found?.kind === 'unsafe' && found.condition, "host = 'a'", typed);
    }
  });
});

describe('the time range', () => {
  const bound = (typed: string, language: Language = 'sql') =>
    addRange(typed, { language, schema });

  it('is added after existing conditions and before the following clauses', () => {
    const range = 'time >= ${from} AND time < ${to}';
    for (const [before, after, language] of [
      ['SELECT * FROM cpu', `SELECT * FROM cpu WHERE ${range}`, 'sql'],
      [
        "SELECT date_bin(INTERVAL '1 h', time) AS time, avg(n) FROM cpu\nGROUP BY 1",
        `SELECT date_bin(INTERVAL '1 h', time) AS time, avg(n) FROM cpu\nWHERE ${range}\nGROUP BY 1`,
        'sql',
      ],
      [
        'SELECT * FROM cpu WHERE n = 1 OR n = 2 LIMIT 3',
        `SELECT * FROM cpu WHERE (n = 1 OR n = 2) AND ${range} LIMIT 3`,
        'sql',
      ],
      [
        "SELECT mean(n) FROM cpu WHERE host = 'a' GROUP BY time(1m)",
        `SELECT mean(n) FROM cpu WHERE host = 'a' AND ${range} GROUP BY time(1m)`,
        'influxql',
      ],
    ] as const)
      assert.deepEqual(bound(before, language), {
        kind: 'edited',
        text: after,
        added: /(?:WHERE|AND) time >= .*?\$\{to\}/.exec(after)?.[0],
      });
  });

  it('is returned without the statement when its effect is unclear', () => {
    for (const typed of [
      'SELECT * FROM cpu a JOIN cpu b USING (time)',
      'SELECT * FROM (SELECT * FROM cpu)',
      'SELECT * FROM elsewhere',
      'WITH x AS (SELECT * FROM cpu) SELECT * FROM x',
    ])
      assert.equal(bound(typed).kind, 'unsafe', typed);
  });
});
