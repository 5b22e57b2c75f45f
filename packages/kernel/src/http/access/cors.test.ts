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

/** The origin that may read the response, and whether it varies by origin. */
function told(cors: Cors, origin?: string) {
  const headers = new Map(cors.headersFor(origin));
  const allowed = headers.get('access-control-allow-origin');
  assert.equal(headers.get('access-control-expose-headers'), allowed && 'ETag');
  return [allowed, headers.get('vary'), preflight(cors, { origin }).size > 0];
}

it('allows every origin', () => {
  const cors = make('*');
  for (const origin of [undefined, PAGE, 'null']) {
    assert.deepEqual(told(cors, origin), ['*', undefined, true]);
    assert.equal(cors.headersFor(origin), cors.headersFor(PAGE));
  }
});

it('allows only the configured origins', () => {
  const cors = make([PAGE]);
  assert.deepEqual(told(cors, PAGE), [PAGE, 'Origin', true]);
  for (const origin of [undefined, '', 'https://evil.example', `${PAGE}.evil`]) {
    assert.deepEqual(told(cors, origin), [undefined, 'Origin', false]);
  }
});

it('allows no origin when none is configured', () => {
  for (const origin of [undefined, PAGE]) {
    assert.deepEqual(told(make([]), origin), [undefined, undefined, false]);
  }
});

it('answers a preflight with the methods of its path and the requested or fixed headers', () => {
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
