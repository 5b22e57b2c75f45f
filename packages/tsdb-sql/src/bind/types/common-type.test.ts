import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { SqlBench } from '../../testing/sql-bench.js';

const NUMBERS = ['i8', 'i32', 'i64', 'u8', 'u32', 'u64', 'f32', 'f64', 'dec'];

/** An expression of each type. */
const VALUES: Readonly<Record<string, string>> = {
  i8: "arrow_cast(1, 'Int8')",
  i32: "arrow_cast(1, 'Int32')",
  i64: '1',
  u8: "arrow_cast(1, 'UInt8')",
  u32: "arrow_cast(1, 'UInt32')",
  u64: "arrow_cast(1, 'UInt64')",
  f32: "arrow_cast(1.5, 'Float32')",
  f64: '1.5',
  dec: "arrow_cast(1.5, 'Decimal128(10, 2)')",
  bool: 'true',
  ts: "TIMESTAMP '2024-01-01'",
  tz: `arrow_cast('2024-01-01', 'Timestamp(Nanosecond, Some("+00:00"))')`,
  s: "arrow_cast(TIMESTAMP '2024-01-01', 'Timestamp(Second, None)')",
  date: "DATE '2024-01-01'",
  time: "arrow_cast(3600000000000, 'Time64(Nanosecond)')",
  iv: "INTERVAL '1 day'",
  dur: "(TIMESTAMP '2024-01-02' - TIMESTAMP '2024-01-01')",
  null: 'NULL',
};

/**
 * Types of `greatest(row, column)`, computed by DataFusion 55 (PyPI `datafusion`). `least`,
 * `nullif`, `coalesce` and VALUES agree wherever DataFusion accepts the pair. CASE and UNION agree
 * except for strings with numbers. `-` means rejected; `text` is Utf8 or a dictionary of it,
 * `d20.0` Decimal128(20, 0).
 */
const TYPES = `
       i8     i32    i64    u8     u32    u64    f32    f64    dec    text   tag    bool   ts     tz     s      date   time   iv     dur    null
  i8   i8     i32    i64    i16    i64    d20.0  f32    f64    d10.2  i8     i8     -      -      -      -      -      -      -      -      i8
  i32  i32    i32    i64    i32    i64    d20.0  f32    f64    d12.2  i32    i32    -      -      -      -      date   -      -      -      i32
  i64  i64    i64    i64    i64    i64    d20.0  f32    f64    d22.2  i64    i64    -      -      -      -      date   -      -      -      i64
  u8   i16    i32    i64    u8     u32    u64    f32    f64    d10.2  u8     u8     -      -      -      -      -      -      -      -      u8
  u32  i64    i64    i64    u32    u32    u64    f32    f64    d12.2  u32    u32    -      -      -      -      -      -      -      -      u32
  u64  d20.0  d20.0  d20.0  u64    u64    u64    f32    f64    d22.2  u64    u64    -      -      -      -      -      -      -      -      u64
  f32  f32    f32    f32    f32    f32    f32    f32    f64    d15.7  f32    f32    -      -      -      -      -      -      -      -      f32
  f64  f64    f64    f64    f64    f64    f64    f64    f64    d30.15 f64    f64    -      -      -      -      -      -      -      -      f64
  dec  d10.2  d12.2  d22.2  d10.2  d12.2  d22.2  d15.7  d30.15 d10.2  d10.2  d10.2  -      -      -      -      -      -      -      -      d10.2
  text i8     i32    i64    u8     u32    u64    f32    f64    d10.2  text   text   -      ts     tz     ts     date   time   -      -      text
  tag  i8     i32    i64    u8     u32    u64    f32    f64    d10.2  text   text   -      ts     tz     ts     date   time   -      -      text
  bool -      -      -      -      -      -      -      -      -      -      -      bool   -      -      -      -      -      -      -      bool
  ts   -      -      -      -      -      -      -      -      -      ts     ts     -      ts     tz     ts     ts     -      -      -      ts
  tz   -      -      -      -      -      -      -      -      -      tz     tz     -      tz     tz     tz     ts     -      -      -      tz
  s    -      -      -      -      -      -      -      -      -      ts     ts     -      ts     tz     s      ts     -      -      -      s
  date -      date   date   -      -      -      -      -      -      date   date   -      ts     ts     ts     date   -      -      -      date
  time -      -      -      -      -      -      -      -      -      time   time   -      -      -      -      -      time   -      -      time
  iv   -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      iv     iv     iv
  dur  -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      -      iv     dur    dur
  null i8     i32    i64    u8     u32    u64    f32    f64    d10.2  text   text   bool   ts     tz     s      date   time   iv     dur    null
`;

/** The result is a float here and a decimal in DataFusion, which cannot represent all floats. */
const isFloatBesideDecimal = (a: string, b: string): boolean =>
  [a, b].includes('dec') && [a, b].some((type) => type.startsWith('f'));

const pairs = TYPES.trim()
  .split('\n')
  .slice(1)
  .flatMap((line) => {
    const columns = (TYPES.trim().split('\n')[0] ?? '').trim().split(/\s+/);
    const [row = '', ...cells] = line.trim().split(/\s+/);
    return cells.map((expected, index) => ({ a: row, b: columns[index] ?? '', expected }));
  })
  .filter(({ expected }) => expected !== '-');

const isText = (type: string) => type === 'text' || type === 'tag';

/** Returns a value of `type` that converts to the type `beside`. */
function literalOf(type: string, beside: string): string {
  const known = VALUES[type];
  if (known !== undefined) return known;
  const text = NUMBERS.includes(beside) ? '1' : beside === 'time' ? '01:00:00' : '2024-01-01';
  return type === 'tag' ? `arrow_cast('${text}', 'Dictionary(Int32, Utf8)')` : `'${text}'`;
}

function nameOf(type: SqlType | undefined): string {
  switch (type?.kind) {
    case 'int':
      return `${type.signed ? 'i' : 'u'}${type.bits}`;
    case 'float':
      return `f${type.bits}`;
    case 'decimal':
      return `d${type.precision}.${type.scale}`;
    case 'utf8':
    case 'tag':
      return 'text';
    case 'boolean':
      return 'bool';
    case 'timestamp':
      return type.unit === 's' ? 's' : type.zone === undefined ? 'ts' : 'tz';
    case 'interval':
      return 'iv';
    case 'duration':
      return 'dur';
    default:
      return type?.kind ?? '';
  }
}

describe('two types have the same common type as in DataFusion', () => {
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({});
  });
  after(() => bench.close());

  const check = (
    queryOf: (a: string, b: string) => string,
    expectedOf: (a: string, b: string, expected: string) => string = (_a, _b, expected) => expected,
  ) => {
    for (const { a, b, expected } of pairs) {
      const query = queryOf(literalOf(a, b), literalOf(b, a));
      const wanted = expectedOf(a, b, isFloatBesideDecimal(a, b) ? 'f64' : expected);
      assert.equal(nameOf(bench.plan(query).columns[0]?.type), wanted, `${a}, ${b}: ${query}`);
    }
  };
  /** A number combined with a string becomes a string. */
  const textWins = (a: string, b: string, expected: string) =>
    (isText(a) && NUMBERS.includes(b)) || (isText(b) && NUMBERS.includes(a)) ? 'text' : expected;

  for (const name of ['greatest', 'least', 'nullif', 'coalesce'])
    it(`in ${name}`, () => check((a, b) => `SELECT ${name}(${a}, ${b})`));
  it('in VALUES', () => check((a, b) => `SELECT * FROM (VALUES (${a}), (${b})) t(x)`));
  it('in CASE', () => check((a, b) => `SELECT CASE WHEN true THEN ${a} ELSE ${b} END`, textWins));
  for (const operator of ['UNION', 'UNION ALL'])
    it(`in ${operator}`, () => check((a, b) => `SELECT ${a} ${operator} SELECT ${b}`, textWins));
  // The result has the rows of the left side.
  const ofLeft = (a: string) => ({ tag: 'text', dec: 'd10.2' })[a] ?? a;
  for (const operator of ['INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL'])
    it(`in ${operator}`, () => check((a, b) => `SELECT ${a} ${operator} SELECT ${b}`, ofLeft));
  // The condition of nvl2 does not affect the type. In nvl, timestamps keep their type; DataFusion
  // converts them to strings.
  it('in nvl', () => check((a, b) => `SELECT nvl(${a}, ${b})`, textWins));
  it('in nvl2', () => check((a, b) => `SELECT nvl2(true, ${a}, ${b})`, textWins));
});
