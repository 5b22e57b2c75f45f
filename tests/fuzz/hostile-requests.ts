import { gzipSync } from 'node:zlib';
import type { Chance } from '../harness/index.js';
import { demandingInfluxql, influxql } from './hostile-influxql.js';
import { corpus, type HostileRequest, wellFormed } from './hostile-request.js';
import { accounts, gamedata, headers, limits, management, webhooks } from './hostile-services.js';
import { demandingSql } from './hostile-sql.js';
import { mutated } from './mutate.js';

export type { HostileRequest } from './hostile-request.js';

const QUERIES = corpus('queries.sql');
/** Valid lines of line protocol. */
export const LINES = corpus('lines.lp');
const TYPES = [
  ...['application/json', 'text/csv', 'application/jsonl', 'application/vnd.apache.parquet'],
  ...[
    'text/plain',
    '*/*',
    'application/json;q=0, text/csv',
    ';;;',
    'a/b',
    'x',
    'text/csv, text/csv;q=2',
  ],
];
const FORMATS = [
  'json',
  'jsonl',
  'csv',
  'pretty',
  'parquet',
  'json_rows',
  'xml',
  '',
  'JSON',
  '%00',
];
const WRITE_PATHS = ['/api/v3/write_lp?db=fuzz', '/write?db=fuzz', '/api/v2/write?bucket=fuzz'];
const NAMES = [
  'db',
  'bucket',
  'precision',
  'accept_partial',
  'no_sync',
  'rp',
  'q',
  'format',
  'params',
  'p',
  'u',
];

/** Share of connections that receive raw bytes instead of `hostileRequest`. */
export const BYTES_SHARE = 0.15;

/** Longer and demanding statements take a hundred times as long as others. */
const LONG_CHARS = 2000;

/** Returns a request of a random kind. @param hardShare share of the hard requests that are kept; the others are replaced. */
export function hostileRequest(chance: Chance, hardShare: number): HostileRequest {
  for (;;) {
    const kind = chance.pick(KINDS);
    const request = kind(chance);
    const isHard = DEMANDING.has(kind) || sizeOf(request) > LONG_CHARS;
    if (!isHard || chance.happens(hardShare)) return request;
  }
}

const sizeOf = ({ path, body = '', headers = {} }: HostileRequest): number =>
  path.length + body.length + Object.values(headers).join().length;

type Kind = (chance: Chance) => HostileRequest;
const DEMANDING: ReadonlySet<Kind> = new Set([demandingSql, demandingInfluxql]);
const KINDS: readonly Kind[] = [
  lines,
  lines,
  randomBody,
  brokenGzip,
  hugeNames,
  sql,
  sql,
  sql,
  jsonBody,
  queryString,
  demandingSql,
  demandingSql,
  influxql,
  influxql,
  demandingInfluxql,
  management,
  accounts,
  accounts,
  webhooks,
  limits,
  gamedata,
  headers,
];

function lines(chance: Chance): HostileRequest {
  const count = chance.between(1, 30);
  const text = Array.from({ length: count }, () =>
    chance.happens(0.3) ? chance.pick(LINES) : mutated(chance.pick(LINES), chance, LINES),
  ).join('\n');
  const isGzip = chance.happens(0.2);
  return {
    path: `${chance.pick(WRITE_PATHS)}&precision=${chance.pick(['ns', 's', 'ms', 'us'])}&accept_partial=${chance.happens(0.7)}`,
    body: isGzip ? gzipSync(text) : text,
    ...(isGzip ? { headers: { 'content-encoding': 'gzip' } } : {}),
  };
}

function randomBody(chance: Chance): HostileRequest {
  const bytes = chance.bytes(chance.between(0, 3000));
  const path = chance.pick([...WRITE_PATHS, '/api/v3/query_sql', '/api/v3/configure/token/admin']);
  return { path, body: bytes };
}

function brokenGzip(chance: Chance): HostileRequest {
  const bytes = gzipSync(`${LINES.join('\n')}\n`.repeat(chance.between(1, 50)));
  const broken = chance.pick([
    () => bytes.subarray(0, chance.between(0, bytes.length - 1)),
    () => Buffer.concat([bytes, chance.bytes(20)]),
    () => {
      bytes[chance.between(0, bytes.length - 1)] = chance.between(0, 255);
      return bytes;
    },
    // A small body that expands far beyond the limit.
    () => gzipSync(Buffer.alloc(12 * 1024 * 1024, 'x')),
  ])();
  return {
    path: chance.pick(WRITE_PATHS),
    body: broken,
    headers: { 'content-encoding': chance.pick(['gzip', 'gzip', 'deflate', 'GZIP']) },
  };
}

function hugeNames(chance: Chance): HostileRequest {
  const long = 'n'.repeat(chance.pick([300, 65_535, 65_536, 200_000]));
  const body = chance.pick([
    `${long} v=1`,
    `t,${long}=1 v=1`,
    `t,a=${long} v=1`,
    `t ${long}=1`,
    `t v="${long}"`,
    `t v=${'1'.repeat(long.length)}`,
    `t v=1 ${'1'.repeat(long.length)}`,
    `t ${Array.from({ length: 1500 }, (_, i) => `f${i}=1`).join(',')}`,
    `t,${Array.from({ length: 500 }, (_, i) => `t${i}=1`).join(',')} v=1`,
  ]);
  return { path: chance.pick(WRITE_PATHS), body };
}

function sql(chance: Chance): HostileRequest {
  const q = chance.happens(0.2)
    ? chance.pick(QUERIES)
    : mutated(chance.pick(QUERIES), chance, QUERIES);
  const headers = chance.happens(0.3) ? { accept: chance.pick(TYPES) } : undefined;
  const format = chance.happens(0.5) ? `&format=${chance.pick(FORMATS)}` : '';
  if (chance.happens(0.5)) {
    return {
      path: `/api/v3/query_sql?db=fuzz&q=${encodeURIComponent(wellFormed(q))}${format}`,
      ...(headers ? { headers } : {}),
    };
  }
  return {
    path: '/api/v3/query_sql',
    body: JSON.stringify({ db: 'fuzz', q }),
    ...(headers ? { headers } : {}),
  };
}

function jsonBody(chance: Chance): HostileRequest {
  const depth = chance.pick([10, 1000, 20_000]);
  const deep = '['.repeat(depth) + ']'.repeat(depth);
  const body = chance.pick([
    deep,
    `{"db":"fuzz","q":"SELECT 1","params":${deep}}`,
    `{"db":"fuzz","q":${JSON.stringify(`SELECT ${'('.repeat(depth)}1${')'.repeat(depth)}`)}}`,
    `{"db":"fuzz","q":${JSON.stringify(`SELECT 1${' + 1'.repeat(depth)}`)}}`,
    '{"db":"fuzz","q":"SELECT $a","params":{"__proto__":1,"a":{"b":[1]}}}',
    '{"db":["fuzz"],"q":{}}',
    '{"db":"fuzz","db":"x","q":1}',
    '{"__proto__":{"db":"fuzz"},"q":"SELECT 1"}',
    `{"db":"${'d'.repeat(100_000)}","q":"SELECT 1"}`,
    'null',
    '"\\ud800"',
    mutated('{"db":"fuzz","q":"SELECT * FROM cpu","format":"json"}', chance, QUERIES),
  ]);
  return {
    path: chance.pick([
      '/api/v3/query_sql',
      '/api/v3/query_influxql',
      '/api/v3/configure/database',
    ]),
    body,
    headers: { 'content-type': 'application/json' },
  };
}

function queryString(chance: Chance): HostileRequest {
  const path = chance.pick([
    ...[
      '/api/v3/write_lp',
      '/write',
      '/api/v2/write',
      '/api/v3/query_sql',
      '/query',
      '/health',
      '/ping',
    ],
    ...['/metrics', '/', '//', '/api/v3/%2e%2e/write_lp', '/api/v3/configure/database'],
  ]);
  const parts = Array.from({ length: chance.between(0, 8) }, () => {
    const value = mutated(
      chance.pick(['fuzz', 'true', 'ns', 'SELECT 1', '{"a":1}']),
      chance,
      LINES,
    );
    const text = wellFormed(value);
    return `${chance.pick(NAMES)}=${chance.happens(0.5) ? encodeURIComponent(text) : text.replace(/[^!-~]/g, '%')}`;
  });
  const method = chance.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']);
  const hasBody = method !== 'GET' && method !== 'HEAD' && chance.happens(0.7);
  return {
    path: `${path}?${parts.join('&').replace(/#/g, '%23')}`,
    method,
    ...(hasBody ? { body: mutated(chance.pick(LINES), chance, LINES) } : {}),
  };
}
