// Source: docs/SECURITY-NETWORK.md, "Browsers"; gamedata, section 2.12.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { requestHead } from '../../testing/request-head.js';
import { Cors } from './cors.js';

const PAGE = 'https://app.example';
const make = (origins: '*' | readonly string[]): Cors =>
  new Cors({ origins, requestHeaders: 'asked', exposes: 'ETag', maxAgeSec: 60 });
const preflight = (cors: Cors, headers: Record<string, string | undefined>) =>
  new Map(cors.preflightFor(requestHead({ method: 'OPTIONS', url: '/', headers }), ['GET', 'PUT']));

/** The origin that may read the answer, and whether caches have to tell pages apart. */
function told(cors: Cors, origin?: string) {
  const headers = new Map(cors.headersFor(origin));
  const allowed = headers.get('access-control-allow-origin');
  assert.equal(headers.get('access-control-expose-headers'), allowed && 'ETag');
  return [allowed, headers.get('vary'), preflight(cors, { origin }).size > 0];
}

it('lets every page ask', () => {
  const cors = make('*');
  for (const origin of [undefined, PAGE, 'null']) {
    assert.deepEqual(told(cors, origin), ['*', undefined, true]);
    assert.equal(cors.headersFor(origin), cors.headersFor(PAGE));
  }
});

it('lets named pages ask and no others', () => {
  const cors = make([PAGE]);
  assert.deepEqual(told(cors, PAGE), [PAGE, 'Origin', true]);
  for (const origin of [undefined, '', 'https://evil.example', `${PAGE}.evil`]) {
    assert.deepEqual(told(cors, origin), [undefined, 'Origin', false]);
  }
});

it('lets no page ask where none is named', () => {
  for (const origin of [undefined, PAGE]) {
    assert.deepEqual(told(make([]), origin), [undefined, undefined, false]);
  }
});

it('tells a preflight of what its path has and of the headers that it asks for, or of fixed ones', () => {
  const asked = { 'access-control-request-headers': 'x-mine' };
  assert.deepEqual(Object.fromEntries(preflight(make('*'), asked)), {
    'access-control-allow-methods': 'GET, PUT',
    'access-control-allow-headers': 'x-mine',
    'access-control-max-age': '60',
  });
  assert.equal(preflight(make('*'), {}).has('access-control-allow-headers'), false);
  const fixed = new Cors({ origins: '*', methods: 'POST', requestHeaders: 'X-Known' });
  assert.deepEqual(Object.fromEntries(preflight(fixed, asked)), {
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'X-Known',
  });
});
