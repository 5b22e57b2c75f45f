import type { Chance } from '../../harness/index.js';
import { SqlExpressions } from './sql-expressions.js';
import { AGGREGATES, WINDOW_FUNCTIONS } from './sql-functions.js';
import { COLUMNS, JOINED_COLUMNS, LITERALS } from './sql-literals.js';

const SOURCES = [
  ...['m', 'm', 'm', '(SELECT * FROM m) AS m', '(SELECT * FROM m ORDER BY time LIMIT 2) AS m'],
  ...['m LEFT JOIN n ON m.user = n.user', 'm CROSS JOIN (SELECT 1 AS z) AS q'],
  'm, generate_series(1, 3) AS g(k)',
];

const FRAMES = [
  'ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
  'ROWS BETWEEN -1 PRECEDING AND 2 FOLLOWING',
  'ROWS 2 PRECEDING',
  'ROWS BETWEEN UNBOUNDED FOLLOWING AND CURRENT ROW',
  'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
  'RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING',
  "RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW",
  'GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
];

const PROJECTIONS = [
  ...['*', 'm.*', '* EXCLUDE (v)', '* REPLACE (1 AS v)', '* EXCEPT (h)', 'm.* EXCLUDE (nope)'],
];

/** Select items over a subquery whose first column is `a0`. */
const OUTER_ITEMS = [
  ...['*', 'count(*)', 'a0', 'max(a0)', 'a0 + 1', 'unnest(a0)', 'a0 = a0'],
  'row_number() OVER (ORDER BY a0)',
];
const OUTER_ENDS = ['', ' AS x JOIN w AS y ON x.a0 = y.a0', ' ORDER BY 1', ' WHERE a0 IS NOT NULL'];

const SET_OPERATORS = [
  ...['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'UNION BY NAME', 'UNION ALL BY NAME'],
];

/** Statements that are not queries of `m`, or not queries at all. */
const OTHERS = [
  ...['SHOW TABLES', 'SHOW COLUMNS FROM m', 'SHOW COLUMNS FROM nope', 'SHOW ALL', 'DESCRIBE m'],
  ...['SHOW FUNCTIONS', 'SELECT * FROM information_schema.columns', 'SELECT nope FROM m', ''],
  ...['SELECT * FROM system.queries LIMIT 2', 'SELECT $a + 1', 'SELECT 1; SELECT 2', 'SET a = 1'],
  ...['DELETE FROM m', 'CREATE TABLE x (a INT)'],
];

const MAX_DEPTH = 1;

/** Returns a syntactically valid SQL statement over tables `m` and `n`. */
export const sqlStatement = (chance: Chance): string => new SqlStatements(chance).make(0);

class SqlStatements {
  readonly #chance: Chance;
  readonly #expressions: SqlExpressions;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#expressions = new SqlExpressions(chance);
  }

  make(depth: number): string {
    const chance = this.#chance;
    const source = chance.pick(SOURCES);
    this.#expressions.columns = source.includes('JOIN n') ? JOINED_COLUMNS : COLUMNS;
    const where = chance.happens(0.4)
      ? ` WHERE ${this.#expressions.of('boolean', chance.between(1, 3))}`
      : '';
    const from = `FROM ${source}${where}`;
    const nested = depth > MAX_DEPTH ? [] : this.#nested(depth);
    return chance.pick([...this.#selections(from), ...this.#aggregations(from), ...nested])();
  }

  #selections(from: string): readonly (() => string)[] {
    const chance = this.#chance;
    const items = (): string => this.#items((depth) => this.#expressions.any(depth));
    return [
      () => `SELECT ${items()}${chance.happens(0.5) ? ` ${from}` : ''}${this.#end()}`,
      () => `SELECT ${items()} ${from}${this.#end()}`,
      () => `SELECT ${chance.pick(PROJECTIONS)} ${from}${this.#end()}`,
      () => {
        const on = chance.happens(0.3) ? `ON (${this.#expressions.any(1)}) ` : '';
        return `SELECT DISTINCT ${on}${this.#expressions.any(2)} AS a0 ${from}${this.#end()}`;
      },
      () => this.#ofValues(),
      () => `SELECT * FROM ${this.#tableFunction()} AS g${this.#limit()}`,
      () => chance.pick(OTHERS),
    ];
  }

  #aggregations(from: string): readonly (() => string)[] {
    const chance = this.#chance;
    const items = (): string => this.#items(() => this.#expressions.aggregate(2));
    return [
      () => `SELECT ${items()} ${from}`,
      () => {
        const operator = chance.pick(['+', '-', '*', '/', '%']);
        return `SELECT ${this.#expressions.aggregate(1)} ${operator} ${this.#expressions.aggregate(1)} AS a0 ${from}`;
      },
      () => {
        const key = this.#expressions.any(1);
        const sets = [`ROLLUP(${key})`, `CUBE(${key}, h)`, `GROUPING SETS ((${key}), ())`];
        const grouped = chance.pick([key, '1', 'k', ...sets]);
        const having = chance.happens(0.2)
          ? ` HAVING ${this.#expressions.aggregate(1)} > ${chance.pick(LITERALS.integer)}`
          : '';
        return `SELECT ${key} AS k, ${items()} ${from} GROUP BY ${grouped}${having}${this.#end()}`;
      },
      () => {
        const signature = chance.pick(chance.happens(0.7) ? WINDOW_FUNCTIONS : AGGREGATES);
        const call = `${this.#expressions.call(signature, 2)} ${this.#over()}`;
        return `SELECT ${call} AS a0, ${this.#expressions.any(1)} AS a1 ${from}${this.#end()}`;
      },
      () => this.#gapFill(from),
    ];
  }

  #nested(depth: number): readonly (() => string)[] {
    const chance = this.#chance;
    const inner = (): string => this.make(depth + 1);
    return [
      () => {
        const first = inner().replace(/ (?:ORDER BY|LIMIT).*$/, '');
        return `${first} ${chance.pick(SET_OPERATORS)} ${inner()}`;
      },
      () => `SELECT * FROM (${inner()}) AS t${this.#limit()}`,
      () =>
        `WITH w AS (${inner()}) SELECT ${chance.pick(OUTER_ITEMS)} FROM w${chance.pick(OUTER_ENDS)}`,
      () => `EXPLAIN ${chance.pick(['', 'ANALYZE ', 'VERBOSE '])}${inner()}`,
    ];
  }

  #ofValues(): string {
    const chance = this.#chance;
    const literal = (): string =>
      chance.pick(LITERALS[chance.pick(['integer', 'text', 'float'] as const)]);
    const rows = Array.from({ length: chance.between(1, 3) }, () => `(${literal()}, ${literal()})`);
    return `SELECT ${this.#expressions.any(2)} AS a0 FROM (VALUES ${rows.join(', ')}) AS m(i, s)`;
  }

  #tableFunction(): string {
    const chance = this.#chance;
    const first = chance.between(-3, 3);
    const last = chance.between(1, 9);
    return chance.pick([
      () => `generate_series(${first}, ${last})`,
      () => `range(1, ${last}, ${chance.between(-1, 2)})`,
      () => `unnest(${this.#expressions.of('list', 1)})`,
      () => `unnest(${this.#expressions.of('struct', 0)})`,
      () => chance.pick(["last_cache('m')", "distinct_cache('x')", 'generate_series(5)']),
    ])();
  }

  #gapFill(from: string): string {
    const chance = this.#chance;
    const step = chance.pick(LITERALS.interval);
    const times = ['time', 'm.time', "tz(time, 'Europe/Berlin')", this.#expressions.of('time', 1)];
    const origin = chance.happens(0.2) ? `, ${chance.pick(LITERALS.time)}` : '';
    const bin = `date_bin_gapfill(${step}, ${chance.pick(times)}${origin})`;
    const value = `${chance.pick(['locf', 'interpolate', ''])}(${this.#expressions.aggregate(1)})`;
    const start = chance.pick(["'1970-01-01'", '0', 'now()', "TIMESTAMP '1960-01-01'"]);
    const stop = chance.pick(["'1970-01-01T00:00:10Z'", '5', "'1970-01-02'", 'NULL']);
    const where = `${from.includes(' WHERE ') ? ' AND' : ' WHERE'} time >= ${start} AND time < ${stop}`;
    return `SELECT ${bin} AS t, ${value} AS a0 ${from}${where} GROUP BY ${chance.pick(['t', '1', 't, h'])}`;
  }

  #over(): string {
    const chance = this.#chance;
    const partition = chance.happens(0.5) ? `PARTITION BY ${this.#expressions.any(1)} ` : '';
    const direction = chance.pick(['', ' DESC', ' NULLS FIRST']);
    const order = chance.happens(0.7) ? `ORDER BY ${this.#expressions.any(1)}${direction} ` : '';
    return `OVER (${partition}${order}${chance.happens(0.4) ? chance.pick(FRAMES) : ''})`;
  }

  #items(make: (depth: number) => string): string {
    const depth = this.#chance.between(1, 3);
    const count = this.#chance.between(1, 3);
    return Array.from({ length: count }, (_, i) => `${make(depth)} AS a${i}`).join(', ');
  }

  #end(): string {
    const chance = this.#chance;
    if (!chance.happens(0.4)) return this.#limit();
    const key = chance.pick([String(chance.between(0, 4)), 'a0', this.#expressions.any(1)]);
    return ` ORDER BY ${key}${chance.pick(['', ' DESC', ' NULLS FIRST'])}${this.#limit()}`;
  }

  #limit(): string {
    const chance = this.#chance;
    if (!chance.happens(0.3)) return '';
    const computed = this.#expressions.of('integer', 1);
    const count = chance.pick(['0', '1', 'NULL', '-1', '1+1', 'abs(-2)', "'a'", '1/0', computed]);
    const offset = chance.pick(['0', '1', '-1', 'abs(1)', 'NULL']);
    return ` LIMIT ${count}${chance.happens(0.3) ? ` OFFSET ${offset}` : ''}`;
  }
}
