import type { Chance } from '../../harness/index.js';
import { InfluxqlExpressions, pickUsual } from './influxql-expressions.js';

const MEASUREMENTS = [
  ...['m', 'm', 'm', 'n', 'm, n', '/./', '"fuzz"."autogen"."m"', 'fuzz..m', 'm, (SELECT v FROM m)'],
];
const ODD_MEASUREMENTS = ['nope', '"typo"."m"'];
const DURATIONS = ['1s', '1m', '1h', '1d', '1w', '5u'];
const ODD_DURATIONS = ['0s', '1ns', '-1h', '1.5h', '1mo', '1000000w'];
const SHOWN = [
  ...['DATABASES', 'MEASUREMENTS', 'SERIES', 'TAG KEYS', 'FIELD KEYS', 'RETENTION POLICIES'],
  ...['QUERIES', 'STATS', 'DIAGNOSTICS', 'SHARDS', 'SHARD GROUPS', 'USERS', 'CONTINUOUS QUERIES'],
  ...['SUBSCRIPTIONS', 'GRANTS FOR x', 'SERIES CARDINALITY', 'TAG KEY EXACT CARDINALITY'],
  ...['MEASUREMENT CARDINALITY', 'FIELD KEY CARDINALITY'],
];
const SHOW_ENDS = [
  ...['', ' ON fuzz', ' ON nope', ' FROM m', ' FROM /./', " WHERE h = 'a'", ' WHERE v > 1'],
  ...[' LIMIT 1', ' WITH MEASUREMENT = m', ' WITH MEASUREMENT =~ /m/'],
  ' WHERE time > now() - 1h',
];
const KEYS = ['= h', '!= h', '=~ /./', '!~ /h/', 'IN (h, "user")', '= "nope"', '= 1'];
const VALUE_ENDS = [
  ...['', " WHERE h = 'a'", ' WHERE b = true', ' WHERE v > 1 OR time > 0', ' LIMIT 1'],
  ' ORDER BY value',
];

/** Statements that modify data: their targets do not exist, or do not change. */
const CHANGES = [
  ...['DELETE FROM nope', 'DELETE FROM nope WHERE v = 1', 'DROP MEASUREMENT nope'],
  ...['DROP SERIES FROM nope', 'CREATE DATABASE fuzz', 'CREATE DATABASE "a/b"', 'KILL QUERY 1'],
  ...['KILL QUERY x', 'SELECT * INTO mm FROM nope', 'GRANT ALL TO x'],
  ...["CREATE USER x WITH PASSWORD ''", 'ALTER RETENTION POLICY a ON fuzz DURATION 1h'],
  ...['DROP RETENTION POLICY nope ON fuzz'],
  'CREATE RETENTION POLICY a ON nope DURATION 1h REPLICATION 1',
];

/** Returns a syntactically valid InfluxQL statement over measurements `m` and `n`. */
export function influxqlStatement(chance: Chance): string {
  const first = chance.happens(0.85) ? select(chance, 0) : show(chance);
  return chance.happens(0.05) ? `${first}; ${show(chance)}` : first;
}

function select(chance: Chance, depth: number): string {
  const expressions = new InfluxqlExpressions(chance);
  const isNested = depth < 2 && chance.happens(0.25);
  const from = isNested
    ? `(${select(chance, depth + 1)})`
    : pickUsual(chance, MEASUREMENTS, ODD_MEASUREMENTS);
  const items = Array.from({ length: chance.between(1, 3) }, (_, i) => {
    const alias = chance.happens(0.3)
      ? ` AS ${chance.pick([`a${i}`, `time${i}`, `"x y${i}"`])}`
      : '';
    return `${expressions.column(chance.between(0, 3))}${alias}`;
  });
  const where = chance.happens(0.5) ? ` WHERE ${expressions.condition(2)}` : '';
  const groups = chance.happens(0.4) ? ` GROUP BY ${dimensions(chance)}` : '';
  return `SELECT ${items.join(', ')} FROM ${from}${where}${groups}${ends(chance)}`;
}

function dimensions(chance: Chance): string {
  const offset = chance.happens(0.3) ? `, ${pickUsual(chance, DURATIONS, ODD_DURATIONS)}` : '';
  const time = `time(${pickUsual(chance, DURATIONS, ODD_DURATIONS)}${offset})`;
  const usual = [time, time, 'time(1s), h', 'time(1m), *', 'h', '*', '/h/', 'h, "user"', '(h)'];
  return pickUsual(chance, usual, ['time(1d), time(1h)', 'v']);
}

function ends(chance: Chance): string {
  const clause = (share: number, words: string, usual: readonly string[], odd = ['-1']): string =>
    chance.happens(share) ? ` ${words}${pickUsual(chance, usual, odd)}` : '';
  const fills = ['(null)', '(none)', '(0)', '(-1.5)', '(previous)', '(linear)'];
  return [
    clause(0.25, 'fill', fills, ["('a')", '(x)']),
    clause(0.25, 'ORDER BY time', ['', ' DESC', ' ASC'], [', v']),
    clause(0.2, 'LIMIT ', ['1', '0', '10']),
    clause(0.1, 'OFFSET ', ['1', '0']),
    clause(0.1, 'SLIMIT ', ['1', '0']),
    clause(0.1, 'SOFFSET ', ['1']),
    clause(0.1, 'tz', ["('Europe/Berlin')", "('UTC')"], ["('x')"]),
  ].join('');
}

function show(chance: Chance): string {
  return chance.pick([
    () => `SHOW ${chance.pick(SHOWN)}${chance.pick(SHOW_ENDS)}`,
    () => {
      const from = chance.pick(['', 'ON fuzz ', 'FROM m ', 'FROM "typo"."m" ']);
      return `SHOW TAG VALUES ${from}WITH KEY ${chance.pick(KEYS)}${chance.pick(VALUE_ENDS)}`;
    },
    () => `EXPLAIN ${chance.pick(['', 'ANALYZE ', 'VERBOSE '])}${select(chance, 1)}`,
    () => chance.pick(CHANGES),
  ])();
}
