// Source: query-languages, SQL operators, gap filling, selectors and "SQL schema views"; values follow from SQL's own rules.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, rows, SharedServer, write } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  const lines = [
    'm,t=a f=1,g=2i 1000000000',
    'm,t=b f=3,g=4i 2000000000',
    'z f=3 1000000000',
    'z f=5 2000000000',
  ];
  const months = ['y v=3 1704067200000000000', 'y v=5 1711929600000000000']; // 2024-01-01, 2024-04-01
  assertEmpty(await write(server, { db: 'sq' }, [...lines, ...months].join('\n')));
});
after(async () => await server.close());

const ask = async (q: string): Promise<unknown[][]> =>
  ((await rows(server, 'sq', q)) as object[]).map((row) => Object.values(row));

/** Returns the value of a query with one row; a NULL is excluded from the row. */
const value = async (expr: string): Promise<unknown> => (await ask(`SELECT ${expr} AS x`))[0]?.[0];

describe('SQL', () => {
  it('compares with some or all of a list, and does not know where a member has no value', async () => {
    const cases: readonly (readonly [expr: string, expected: boolean | undefined])[] = [
      ['2 > ALL(make_array(1, 2))', false],
      ['3 > ALL(make_array(1, 2))', true],
      ['1 = ALL(make_array(1, 1))', true],
      ['1 <> ALL(make_array(2, 3))', true],
      ['1 <> ANY(make_array(1, 1))', false],
      ['3 > ANY(make_array(5, NULL, 1))', true],
      ['0 > ANY(make_array(1, NULL))', undefined],
      ['3 > ALL(make_array(1, NULL))', undefined],
      ['0 > ALL(make_array(1, NULL))', false],
    ];
    for (const [expr, expected] of cases) assert.equal(await value(expr), expected, expr);
  });

  it('compares with some or all of a subquery', async () => {
    const of = async (condition: string) =>
      (await ask(`SELECT f FROM m WHERE ${condition} ORDER BY f`)).flat();
    assert.deepEqual(await of('f = ANY(SELECT f FROM z)'), [3]);
    assert.deepEqual(await of('f <= ALL(SELECT f FROM z)'), [1, 3]);
    assert.deepEqual(await of('f > ALL(SELECT f FROM z WHERE f > 100)'), [1, 3]);
    assert.deepEqual(await of('f > ANY(SELECT f FROM z WHERE f > 100)'), []);
    assert.deepEqual(await of('f <> ALL(SELECT f FROM z)'), [1]);
  });

  it('has an exclusive or of bits, and leaves its sign alone in texts', async () => {
    assert.equal(await value('5 # 3'), 6);
    assert.equal(await value("'5 # 3'"), '5 # 3');
    assert.equal(await value('1 # 2 # 4'), 7);
  });

  it('orders by all columns', async () => {
    const pairs = 'SELECT t, f FROM m UNION ALL SELECT t, f + 1 FROM m';
    assert.deepEqual(await ask(`${pairs} ORDER BY ALL`), [
      ['a', 1],
      ['a', 2],
      ['b', 3],
      ['b', 4],
    ]);
    assert.deepEqual(await ask('SELECT t, f FROM m ORDER BY ALL DESC'), [
      ['b', 3],
      ['a', 1],
    ]);
    assert.deepEqual(await ask('SELECT t, count(*) FROM m GROUP BY t ORDER BY all'), [
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('fills gaps by months', async () => {
    const range = "time >= '2023-12-15' AND time < '2024-06-01'";
    const filled = await rows(
      server,
      'sq',
      `SELECT date_bin_gapfill(INTERVAL '1 month', time) AS t, locf(max(v)) AS v FROM y WHERE ${range} GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(filled, [
      { t: '2023-12-01T00:00:00' },
      { t: '2024-01-01T00:00:00', v: 3 },
      { t: '2024-02-01T00:00:00', v: 3 },
      { t: '2024-03-01T00:00:00', v: 3 },
      { t: '2024-04-01T00:00:00', v: 5 },
      { t: '2024-05-01T00:00:00', v: 5 },
    ]);
  });

  it('selects other columns of the row that a selector finds', async () => {
    const q =
      "SELECT selector_max(f, time, t, g)['other_1'] AS t, selector_max(f, time, t, g)['other_2'] AS g, selector_first(f, time, g)['other_1'] AS first FROM m";
    assert.deepEqual(await rows(server, 'sq', q), [{ t: 'b', g: 4, first: 2 }]);
  });

  it('lists functions by a pattern, and in information_schema.routines', async () => {
    const named = async (filter: string) =>
      (await ask(`SHOW FUNCTIONS ${filter}`)).map(([name]) => name);
    assert.deepEqual(await named("LIKE 'date\\_bin'"), []);
    assert.ok((await named("LIKE 'date_b%'")).includes('date_bin'));
    assert.deepEqual(await named("ILIKE 'DATE_BIN'"), ['date_bin']);
    assert.deepEqual(await named("LIKE '%e_bin'"), ['date_bin']);
    assert.deepEqual(
      await ask(
        "SELECT routine_name, function_type FROM information_schema.routines WHERE routine_name = 'date_bin'",
      ),
      [['date_bin', 'SCALAR']],
    );
  });

  it('lists what functions take and give in information_schema.parameters', async () => {
    const of = async (name: string) =>
      await ask(
        'SELECT rid, parameter_mode, ordinal_position, data_type FROM information_schema.parameters ' +
          `WHERE specific_name = '${name}' ORDER BY rid, parameter_mode, ordinal_position`,
      );
    const signatures = async (name: string) => {
      const byCall = new Map<unknown, string[]>();
      for (const [rid, mode, , type] of await of(name)) {
        const parts = byCall.get(rid) ?? [];
        byCall.set(rid, [...parts, mode === 'OUT' ? `-> ${type}` : String(type)]);
      }
      return [...byCall.values()].map((parts) => parts.join(' '));
    };
    assert.deepEqual(await signatures('pi'), ['-> Float64']);
    assert.ok((await signatures('upper')).includes('Utf8 -> Utf8'));
    assert.ok((await signatures('abs')).includes('Int64 -> Int64'));
    assert.ok((await signatures('abs')).includes('Float64 -> Float64'));
    assert.ok((await signatures('substr')).includes('Utf8 Int64 Int64 -> Utf8'));
    const bins = await signatures('date_bin');
    assert.ok(
      bins.includes(
        'Interval(MonthDayNano) Timestamp(Nanosecond, None) -> Timestamp(Nanosecond, None)',
      ),
      bins.join('; '),
    );
    const variadic = await ask(
      "SELECT DISTINCT specific_name, is_variadic FROM information_schema.parameters WHERE specific_name IN ('coalesce', 'abs') ORDER BY 1",
    );
    assert.deepEqual(variadic, [
      ['abs', false],
      ['coalesce', true],
    ]);
    const joined = await ask(
      'SELECT count(DISTINCT r.routine_name) FROM information_schema.routines r LEFT JOIN information_schema.parameters p ' +
        'ON p.specific_name = r.specific_name WHERE p.rid IS NULL',
    );
    assert.ok(
      Number(joined[0]?.[0]) < 60,
      `functions of lists, maps and constants alone are left: ${joined}`,
    );
  });
});
