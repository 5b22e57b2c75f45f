import type { Chance } from '../harness/index.js';
import { corpus, type HostileRequest, wellFormed } from './hostile-request.js';
import { mutated } from './mutate.js';

const QUERIES = corpus('queries.influxql');

/** Mutated InfluxQL statements, and requests with many statements. */
export const influxql = (chance: Chance): HostileRequest => asked(statements(chance), chance);

/** Statements that request more than the data contains. */
export const demandingInfluxql = (chance: Chance): HostileRequest =>
  asked(demanding(chance), chance);

function asked(q: string, chance: Chance): HostileRequest {
  const fields = new URLSearchParams({
    db: 'fuzz',
    q: wellFormed(q),
    ...(chance.happens(0.3) && { epoch: chance.pick(['ns', 's', 'h', '', 'x']) }),
    ...(chance.happens(0.3) && {
      chunked: 'true',
      chunk_size: chance.pick(['1', '0', '-1', '1e9']),
    }),
    ...(chance.happens(0.2) && { params: chance.pick(PARAMS) }),
  });
  const accept = chance.happens(0.3) ? { accept: chance.pick(TYPES) } : {};
  const path = chance.pick(['/query', '/query', '/api/v3/query_influxql']);
  if (path !== '/query' || (chance.happens(0.5) && fields.size < 12_000)) {
    return { path: `${path}?${fields}`, headers: accept };
  }
  return {
    path,
    body: String(fields),
    headers: { ...accept, 'content-type': 'application/x-www-form-urlencoded' },
  };
}

const TYPES = ['application/csv', 'application/x-msgpack', 'application/json', 'text/plain', '*/*'];
const PARAMS = [
  '{"a":1}',
  '{"__proto__":{"a":1}}',
  `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`,
  `{"a":{"regex":"(a+)+$"}}`,
  `{${Array.from({ length: 3000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
  '{',
];

function statements(chance: Chance): string {
  const count = chance.happens(0.1) ? chance.between(100, 2000) : chance.between(1, 4);
  return Array.from({ length: count }, () =>
    count > 4 ? chance.pick(QUERIES) : mutated(chance.pick(QUERIES), chance, QUERIES),
  ).join(';');
}

const times = (count: number, text: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);

function demanding(chance: Chance): string {
  const count = chance.pick([50, 500, 5000]);
  return chance.pick([
    () => `SELECT ${times(count, (i) => `usage + ${i} AS f${i}`)} FROM cpu`,
    () => `SELECT ${times(count, (i) => `mean(usage) AS f${i}`)} FROM cpu GROUP BY time(1s), *`,
    () => `SELECT * FROM ${times(count, (i) => (i % 2 === 0 ? 'cpu' : `m${i}`))}`,
    () => `SELECT * FROM ${times(count, () => '/.*/')}`,
    () => `SELECT * FROM cpu WHERE ${times(count, (i) => `host = 'h${i}'`, ' OR ')}`,
    () => `SELECT * FROM cpu WHERE ${'('.repeat(count)}usage > 1${')'.repeat(count)}`,
    () => `SELECT ${'('.repeat(count)}usage${')'.repeat(count)} FROM cpu`,
    () => `SELECT ${'abs('.repeat(count)}usage${')'.repeat(count)} FROM cpu`,
    () => `SELECT usage${' + 1'.repeat(count)} FROM cpu`,
    () => `SELECT ${'-'.repeat(count)}usage FROM cpu`,
    () => `${'SELECT * FROM ('.repeat(count / 10)}SELECT * FROM cpu${')'.repeat(count / 10)}`,
    () =>
      `${'SELECT max(*) FROM ('.repeat(count / 50)}SELECT * FROM cpu${') GROUP BY time(1s)'.repeat(count / 50)}`,
    () => `SELECT * FROM cpu WHERE host =~ /${'(a*)*'.repeat(count)}b/`,
    () => `SELECT * FROM cpu WHERE host =~ /${'a{1000}'.repeat(count / 50)}/`,
    () => `SELECT * FROM /^${'(.*)*'.repeat(count / 50)}x$/`,
    () =>
      `SELECT mean(usage) FROM cpu WHERE time >= 0 AND time < ${count * 1000}s GROUP BY time(1s), host fill(${chance.pick(['0', 'linear', 'previous', 'null'])})`,
    () =>
      `SELECT moving_average(mean(usage), ${count}) FROM cpu WHERE time >= 0 AND time < 90000s GROUP BY time(1s) fill(0)`,
    () =>
      `SELECT holt_winters(mean(usage), ${count}, ${chance.pick([0, 4, 100])}) FROM cpu WHERE time >= 0 AND time < 5000s GROUP BY time(1s) fill(0)`,
    () =>
      `SELECT percentile(usage, 50) FROM cpu WHERE time >= 0 AND time < ${count * 10}s GROUP BY time(1s), * fill(linear)`,
    () => `SELECT * FROM cpu GROUP BY ${times(count, (i) => `t${i}`)}`,
    () => `SHOW TAG VALUES WITH KEY IN (${times(count, (i) => `k${i}`)})`,
    () =>
      `SHOW TAG VALUES WITH KEY =~ /${'(x+)+'.repeat(count)}y/ WHERE ${times(count / 50, () => `host =~ /(a|a)*b/`, ' OR ')}`,
    () => `SHOW FIELD KEYS FROM ${times(count, (i) => `m${i}`)}`,
    () => times(count, () => 'SHOW MEASUREMENTS', ';'),
    () => times(count, () => 'SELECT * FROM cpu LIMIT 1', ';'),
    () => `SELECT '${'x'.repeat(count * 20)}' FROM "${'y'.repeat(count * 20)}"`,
    () => `SELECT * FROM cpu WHERE time > ${'now() - '.repeat(count)}1h`,
    () => ';'.repeat(count * 10),
  ])();
}
