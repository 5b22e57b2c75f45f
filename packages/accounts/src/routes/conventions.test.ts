// Source: accounts, sections 2.2 to 2.5 and 12. Covers requests that are rejected before a route is
// reached.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  CredentialUncheckable,
  type HttpHead,
  type HttpResponse,
  inputCheck,
  requestError,
} from '@plinth/kernel';
import { requestHead, SeededRandom } from '@plinth/kernel/testing';
import { Type } from 'typebox';
import { DEFAULT_PLATFORM_SETTINGS } from '../model/platform/platform-settings.js';
import { VendorWord } from '../model/platform/vendor-word.js';
import { AccountsRefused } from '../model/violation.js';
import { AccountsConventions, refuseEmptySegments } from './conventions.js';
import { RequestAuthenticator } from './request-authenticator.js';

const bugs: unknown[] = [];
const headerPrefixes = ['Plinth'];
const away = new CredentialUncheckable(undefined);
const authenticator = new RequestAuthenticator({
  keys: {
    find(text) {
      const kind = text === 'sk_test_a' ? 'secret' : text === 'pk_test_a' ? 'publishable' : '';
      if (kind === '') return { status: 'unknown' };
      return { status: 'valid', key: { platform: 'shop', kind, livemode: false } };
    },
  },
  platforms: {
    defaultVersion: '2025-12-15.clover',
    find: (id) => ({ id, createdMs: 0, settings: DEFAULT_PLATFORM_SETTINGS }),
  },
  random: new SeededRandom(1),
  headerPrefixes,
  maxBodyBytes: 100,
  vendorWordWarnings: { warnAboutAlias() {} },
  findOperator({ headers }) {
    if (headers['authorization'] === 'Bearer away') throw away;
    return undefined;
  },
});
const conventions = new AccountsConventions(authenticator, {
  ...{ vendorWord: new VendorWord('vendor', []), headerPrefixes },
  baseUrl: (requestUrl) => requestUrl,
  onBug: (error) => bugs.push(error),
});

const head = (
  url: string,
  headers: Readonly<Record<string, string>> = { authorization: 'Bearer sk_test_a' },
): HttpHead => requestHead({ method: 'PUT', url, headers });
function told({ status, body }: HttpResponse): string {
  const { error } = JSON.parse(String(body)) as { error: { code: string } };
  return `${status} ${error.code}`;
}
const ACCOUNTS = '/v2/core/accounts';

it('identifies the caller, or reports why it cannot', () => {
  assert.equal(conventions.identify(head(ACCOUNTS)).kind, 'platform_key');
  assert.throws(() => conventions.identify(head(ACCOUNTS, {})), AccountsRefused);
  const operator = head('/ops/v1/accounts', { authorization: 'Bearer away' });
  assert.throws(
    () => conventions.identify(operator),
    (error) => error === away,
  );
});

it('has a credential of its own only with a valid secret key', () => {
  const hasOwn = (authorization: string) =>
    conventions.hasOwnCredential(head(ACCOUNTS, { authorization }));
  assert.equal(hasOwn('Bearer sk_test_a'), true);
  for (const text of ['pk_test_a', 'sk_test_x', '']) assert.equal(hasOwn(`Bearer ${text}`), false);
});

it('allows cross-origin reads only on paths that create tokens', () => {
  const open = [
    '/v2/core/account_tokens',
    '/v2/core/account_tokens?a=1',
    `${ACCOUNTS}/x/person_tokens`,
  ];
  const closed = [
    ACCOUNTS,
    '/v2/core/account_tokens/x',
    `${ACCOUNTS}/x/y/person_tokens`,
    '/x/v2/core/account_tokens',
  ];
  for (const url of [...open, ...closed]) {
    const isOpen = open.includes(url);
    const headers = new Map(conventions.headers(head(url)));
    assert.equal(headers.get('access-control-allow-origin'), isOpen ? '*' : undefined, url);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('request-id') ?? '', /^req_/);
    assert.equal(headers.get('plinth-version'), DEFAULT_PLATFORM_SETTINGS.default_api_version);
    const preflight = conventions.preflightResponse(head(url), ['POST']);
    assert.equal(preflight?.status, isOpen ? 204 : undefined, url);
  }
  const allowed = new Map(
    conventions.preflightResponse(head('/v2/core/account_tokens'), ['POST'])?.headers,
  );
  assert.deepEqual(
    [...allowed.values()],
    ['POST', 'Authorization, Content-Type, Idempotency-Key, Plinth-Version'],
  );
});

it('reports the first fault of a request that no route accepts', () => {
  const refused = (url: string, headers: Readonly<Record<string, string>>): string => {
    const request = head(url, headers);
    const { refusal } = authenticator.of(request);
    const responses = [
      requestError('not_authenticated'),
      ...(refusal === undefined ? [] : [refusal]),
    ].map((error) => told(conventions.errorResponse(error, request)));
    assert.equal(new Set(responses).size, 1);
    return responses[0] ?? '';
  };
  assert.equal(refused(ACCOUNTS, {}), '401 api_key_missing');
  assert.equal(refused(ACCOUNTS, { authorization: 'Bearer x' }), '401 api_key_invalid');
  assert.equal(refused(ACCOUNTS, { 'content-length': '101' }), '413 request_too_large');
  assert.equal(refused(ACCOUNTS, { 'plinth-version': 'x' }), '400 invalid_api_version');
  assert.equal(refused(`${ACCOUNTS}/`, { 'content-length': '101' }), '404 unrecognized_url');
  // Operator paths have no size limit and no version of platforms.
  const operator = { 'content-length': '101', 'plinth-version': 'x' };
  assert.equal(refused('/ops/v1/accounts', operator), '401 operator_token_required');
  const unchecked = { authorization: 'Bearer away' };
  assert.equal(refused('/ops/v1/accounts', unchecked), '503 service_overloaded');
});

it('formats errors that a handler throws', () => {
  const missing = new AccountsRefused({ code: 'not_found', message: 'No such account.' });
  assert.equal(told(conventions.errorResponse(missing, head(ACCOUNTS, {}))), '404 not_found');
  assert.equal(
    told(conventions.errorResponse(new TypeError('a bug'), head(ACCOUNTS))),
    '500 api_error',
  );
  assert.equal(bugs.length, 1);
});

it('formats schema failures in the same way as shape failures', () => {
  const check = inputCheck('body', Type.Object({ country: Type.String({ maxLength: 2 }) }));
  for (const [body, code] of [
    [{}, 'missing_field'],
    [{ country: 5 }, 'wrong_type'],
    [{ country: 'DEU' }, 'too_long'],
  ] as const) {
    assert.throws(
      () => check(body),
      (error) => {
        const response = conventions.errorResponse(error, head(ACCOUNTS));
        const { error: terms } = JSON.parse(String(response.body));
        assert.deepEqual(
          [response.status, terms.code, terms.param],
          [400, 'invalid_fields', 'country'],
        );
        assert.deepEqual(
          terms.invalid_fields.map((each: { field: string; code: string }) => [
            each.field,
            each.code,
          ]),
          [['country', code]],
        );
        return true;
      },
    );
  }
  const unreadable = requestError('json_unreadable', 'not_json');
  assert.equal(told(conventions.errorResponse(unreadable, head(ACCOUNTS))), '400 invalid_json');
});

it('distinguishes an unknown path from an unsupported method', () => {
  assert.equal(told(conventions.notFoundResponse(head('/v2/none'), [])), '404 unrecognized_url');
  const response = conventions.notFoundResponse(head(ACCOUNTS), ['GET', 'POST']);
  assert.equal(told(response), '405 method_not_allowed');
  assert.equal(new Map(response.headers).get('allow'), 'GET, POST');
});

it('does not accept an empty path segment as an id', () => {
  for (const url of ['/v2/a/', '/v2//a', '/v2/a/?b=1']) {
    assert.throws(() => refuseEmptySegments(head(url)), AccountsRefused, url);
  }
  for (const url of ['/v2/a', '/v2/a?b=//']) refuseEmptySegments(head(url));
});
