import type { Chance } from '../harness/index.js';
import type { HostileRequest } from './hostile-request.js';
import { wellFormed } from './hostile-request.js';
import { mutated } from './mutate.js';

/** A valid key of the fuzzed server. */
export const ACCOUNTS_KEY = 'sk_test_0123456789abcdefghijABCDEFGH';
const JSON_TYPE = { 'content-type': 'application/json' };

const times = (count: number, text: (index: number) => string, separator = ','): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);

/** JSON values that are deep, broad, long, or of the wrong type. */
function awkwardJson(chance: Chance): string {
  const size = chance.pick([10, 1000, 20_000]);
  return chance.pick([
    () => '['.repeat(size) + ']'.repeat(size),
    () => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
    () => `{${times(size, (i) => `"k${i}":${i}`)}}`,
    () => `[${times(size, (i) => `{"id":"${i}"}`)}]`,
    () => `[${times(size, () => '[]')}]`,
    () => JSON.stringify('x'.repeat(size * 10)),
    () => JSON.stringify('\u0000\ud800"\\'.repeat(size)),
    () => '1e999',
    () => `${'9'.repeat(size)}`,
    () => '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
    () => 'null',
  ])();
}

/** Bodies of the time-series service's management, caches and deletions. */
export function management(chance: Chance): HostileRequest {
  const size = chance.pick([3, 300, 5000]);
  const predicate = chance.pick([
    () => times(size, (i) => `a${i}="${i}"`, ' AND '),
    () => `${'('.repeat(size)}host="a"${')'.repeat(size)}`,
    () => `host="${'\\"'.repeat(size)}"`,
    () => mutated('_measurement="cpu" AND host="a"', chance, ['host="b"']),
  ]);
  const [path, body] = chance.pick<() => readonly [string, string]>([
    () => [
      '/api/v2/delete?bucket=fuzz',
      JSON.stringify({
        start: '1970-01-01T00:00:00Z',
        stop: chance.pick(['1970-01-01T00:00:01Z', 'x', '9999-01-01T00:00:00Z']),
        predicate: predicate(),
      }),
    ],
    () => [
      `/api/v3/configure/${chance.pick(['last_cache', 'distinct_cache'])}`,
      `{"db":"fuzz","table":"cpu","name":"c${chance.between(0, 9)}","key_columns":[${times(size, (i) => `"k${i % 7}"`)}],"columns":[${times(size, (i) => `"host${i || ''}"`)}],"max_cardinality":${size},"count":${size}}`,
    ],
    () => [
      `/api/v3/configure/${chance.pick(['last_cache', 'distinct_cache', 'database', 'table'])}`,
      `{"db":"fuzz","table":"cpu","columns":${awkwardJson(chance)},"tags":${awkwardJson(chance)}}`,
    ],
    () => [
      '/api/v3/configure/table',
      `{"db":"fuzz","table":"t${chance.between(0, 99)}","tags":[${times(size, (i) => `"t${i}"`)}],"fields":[${times(size, (i) => `{"name":"f${i}","type":"utf8"}`)}]}`,
    ],
  ])();
  return { path, body, headers: JSON_TYPE };
}

const ACCOUNT_PATHS = [
  '/v2/core/accounts',
  '/v2/core/accounts',
  '/v2/core/accounts/acct_x/persons',
  '/v2/core/account_tokens',
  '/v2/core/event_destinations',
  '/v1/test_helpers/test_clocks',
];

/** Forms and JSON for accounts. */
export function accounts(chance: Chance): HostileRequest {
  const size = chance.pick([10, 1000, 10_000]);
  const headers = { authorization: `Bearer ${ACCOUNTS_KEY}` };
  const path = chance.pick(ACCOUNT_PATHS);
  if (chance.happens(0.3)) {
    const query = chance.pick([
      () => times(size / 10, (i) => `include[${i}]=identity`, '&'),
      () => `include${'[a]'.repeat(size / 10)}=1`,
      () => `limit=${'9'.repeat(size / 10)}&page=${'%00'.repeat(size / 10)}`,
      () => mutated('applied_configurations[0]=merchant&limit=3&page=x', chance, ['a[b][c]=d']),
    ])();
    return { path: `${path}?${wellFormed(query).replace(/[^!-~]|#/g, '%')}`, headers };
  }
  if (chance.happens(0.5)) {
    const body = chance.pick([
      () => `a${'[b]'.repeat(size)}=1`,
      () => times(size, (i) => `a[${i}]=${i}`, '&'),
      () => times(size, (i) => `a[b][${i}][c]=${i}`, '&'),
      () => times(size, (i) => `metadata[k${i}]=${i}`, '&'),
      () => times(size, () => 'a[]=1', '&'),
      () => `a[${'9'.repeat(size)}]=1&a[4294967295]=2&a[length]=3`,
      () => '%'.repeat(size),
      () => '&='.repeat(size),
      () => `${'['.repeat(size)}=${']'.repeat(size)}`,
      () => mutated('contact_email=a%40b.c&identity[country]=us', chance, ['__proto__[a]=1']),
    ])();
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return { path, method: 'POST', body: wellFormed(body), headers: { ...headers, ...type } };
  }
  const field = chance.pick(['identity', 'metadata', 'include', 'configuration', 'contact_email']);
  const body = chance.pick([
    () => awkwardJson(chance),
    () => `{"${field}":${awkwardJson(chance)}}`,
    () => `{"identity":{"individual":{"surname":${awkwardJson(chance)}}},"include":["identity"]}`,
    () =>
      `{"contact_email":"${'a'.repeat(size)}@${'b.'.repeat(size)}c","contact_phone":"+${'1'.repeat(size)}"}`,
    () =>
      `{"defaults":{"profile":{"business_url":"https://${'a.'.repeat(size)}com/${'%'.repeat(size)}"}}}`,
  ])();
  return { path, method: 'POST', body, headers: { ...headers, ...JSON_TYPE } };
}

/** Apps, events and delivery filters. */
export function webhooks(chance: Chance): HostileRequest {
  const size = chance.pick([10, 1000, 20_000]);
  return chance.pick<() => HostileRequest>([
    () => ({
      path: '/ops/v1/events',
      body: `{"event":"installation","action":"created","installation_id":1,"payload":${awkwardJson(chance)}}`,
      headers: JSON_TYPE,
    }),
    () => ({
      path: '/ops/v1/events/batch',
      body: `{"events":[${times(size / 10, (i) => `{"event":"ping","payload":{"i":${i}}}`)}]}`,
      headers: JSON_TYPE,
    }),
    () => ({
      path: '/ops/v1/apps',
      body: `{"name":"a${chance.between(0, 5)}","events":${awkwardJson(chance)},"hook":{"url":"http://127.0.0.1:9/${'a'.repeat(size)}"}}`,
      headers: JSON_TYPE,
    }),
    () => ({
      path: `/ops/v1/apps/${chance.pick(['1', 'x', '%00', '9'.repeat(40)])}/deliveries?per_page=${chance.pick(['100', '-1', '1e9', ''])}&cursor=${'v'.repeat(size / 10)}&status=${chance.pick(['failure', 'x', ''])}`,
    }),
    () => ({
      path: '/api/v3/app/hook/config',
      method: 'PATCH',
      body: `{"url":"https://${'x.'.repeat(size)}","secret":${awkwardJson(chance)}}`,
      headers: { ...JSON_TYPE, authorization: `Bearer ${'a.'.repeat(size / 10)}b` },
    }),
  ])();
}

/** Rate-limit decisions and policies. */
export function limits(chance: Chance): HostileRequest {
  const size = chance.pick([10, 1000, 20_000]);
  return chance.pick<() => HostileRequest>([
    () => ({
      path: '/ops/v1/rate-limits/check',
      body: `{"identity":"${'i'.repeat(size)}","method":"GET","path":"/${'a/'.repeat(size)}","cost":${awkwardJson(chance)}}`,
      headers: JSON_TYPE,
    }),
    () => ({
      path: '/ops/v1/rate-limits/check',
      body: `{"identity":"i","method":"GET","path":"${mutated('/repos/a/b?x=1', chance, [
        '//..',
      ]).replace(/[^ !#-[\]-~]/g, 'x')}"}`,
      headers: JSON_TYPE,
    }),
    () => ({
      path: '/ops/v1/rate-limits/check-batch',
      body: `{"checks":[${times(size / 10, (i) => `{"identity":"u${i}","method":"POST","path":"/x/${i}"}`)}]}`,
      headers: JSON_TYPE,
    }),
    () => ({ path: '/ops/v1/rate-limits/bans', body: awkwardJson(chance), headers: JSON_TYPE }),
    () => ({ path: `/ops/v1/rate-limits/top?limit=${chance.pick(['1', '1e9', '-1'])}` }),
    () => ({ path: `/ops/v1/rate-limits/${encodeURIComponent('ä/%'.repeat(size / 50))}` }),
  ])();
}

const COLLECTIONS = ['items', 'ammunition', 'quests', 'maps', 'hideout', 'traders', 'item-presets'];

/** Lists, searches and the game data editor. */
export function gamedata(chance: Chance): HostileRequest {
  const size = chance.pick([10, 300, 3000]);
  const name = chance.pick(COLLECTIONS);
  const text = encodeURIComponent(
    chance.pick([
      () => 'a '.repeat(size),
      () => 'ä'.repeat(size),
      () => 'aaaa*?~"'.repeat(size / 10),
      () => wellFormed(mutated('golden star balm', chance, ['ak-74 "x" -y'])),
    ])(),
  );
  return chance.pick<() => HostileRequest>([
    () => ({ path: `/api/${name}?q=${text}&search=${text}&limit=100` }),
    () => ({ path: `/api/search?q=${text}&limit=${chance.pick(['1', '1000', '-1', '1e9'])}` }),
    () => ({ path: `/api/suggest?q=${text}` }),
    () => ({
      path: `/api/${name}?${times(size, (i) => `filter${i}=${i}`, '&')}&sort=${text.slice(0, 200)}`,
    }),
    () => ({
      path: `/api/${name}?ids=${times(size, (i) => String(i))}&fields=${times(size, (i) => `f${i}`)}`,
    }),
    () => ({
      path: `/api/${name}?filter=${encodeURIComponent('('.repeat(size))}&include=${'a.'.repeat(size)}`,
    }),
    () => ({ path: `/api/editor/${name}`, body: awkwardJson(chance), headers: JSON_TYPE }),
    () => ({
      path: `/api/editor/${name}`,
      body: `{"id":"x${chance.between(0, 99)}","name":${awkwardJson(chance)}}`,
      headers: JSON_TYPE,
    }),
    () => ({ path: '/api/editor/import', body: awkwardJson(chance), headers: JSON_TYPE }),
    () => ({ path: `/api/editor/validate?type=${text.slice(0, 200)}` }),
    () => ({
      path: `/api/changes?from=${chance.pick(['0', '-1', '1e99'])}&to=${text.slice(0, 90)}`,
    }),
  ])();
}

const ANYWHERE = [
  ...['/health', '/query?q=SHOW+DATABASES', '/api/v3/query_sql?db=fuzz&q=SELECT+1', '/api/items'],
  ...['/v2/core/accounts', '/rate_limit', '/ops/v1/apps', '/metrics', '/api/v3/app'],
];

/** Long or numerous headers and path segments. */
export function headers(chance: Chance): HostileRequest {
  const size = chance.pick([10, 200, 1500]);
  const path = chance.pick(ANYWHERE);
  return chance.pick<() => HostileRequest>([
    () => ({ path, headers: { cookie: times(size, (i) => `a${i}=b`, '; ') } }),
    () => ({ path, headers: { accept: times(size, (i) => `a/${i};q=0.${i % 9}`) } }),
    () => ({ path, headers: { 'accept-encoding': times(size, (i) => `x${i};q=0.1`) } }),
    () => ({ path, headers: { 'accept-language': times(size, (i) => `de-${i};q=0.${i % 10}`) } }),
    () => ({ path, headers: { range: `bytes=${times(size, (i) => `${i}-${i}`)}` } }),
    () => ({ path, headers: { 'if-none-match': times(size, (i) => `"${i}"`) } }),
    () => ({ path, headers: { authorization: `Bearer ${'x'.repeat(size * 5)}` } }),
    () => ({ path, headers: { authorization: `Token ${'apiv3_'.repeat(size)}` } }),
    () => ({ path, headers: { authorization: `Basic ${'QTpC'.repeat(size)}` } }),
    () => ({ path, headers: { authorization: `Bearer ${'e30.'.repeat(size)}` } }),
    () => ({
      path,
      headers: { 'content-type': `a/b;${';x="'.repeat(size)}` },
      method: 'POST',
      body: '{}',
    }),
    () => ({ path, headers: { 'x-forwarded-for': times(size, (i) => `10.0.0.${i}`) } }),
    () => ({ path, headers: { traceparent: `00-${'a'.repeat(size)}-b-01` } }),
    () => ({ path: `${path.split('?')[0]}/${'%2e%2e%2f'.repeat(size)}` }),
    () => ({ path: `/${'%41'.repeat(size)}` }),
    () => ({ path: `/${'a/'.repeat(size)}` }),
    () => ({ path: `${path.split('?')[0]}?${times(size, (i) => `k${i}=%C3%A4`, '&')}` }),
  ])();
}
