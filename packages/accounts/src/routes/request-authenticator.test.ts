// Source: accounts, sections 2.2 to 2.4 and 12. Covers keys, versions, and the order of checks.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ANONYMOUS,
  CredentialUncheckable,
  type HttpHead,
  type PrincipalOf,
  requestError,
} from '@plinth/kernel';
import { requestHead, SeededRandom } from '@plinth/kernel/testing';
import type { Platform } from '../domain/platform/platforms.js';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../model/platform/platform-settings.js';
import { AccountsRefused } from '../model/violation.js';
import {
  AS_PLATFORM_PATH,
  isBelow,
  isV1Path,
  type KeyDirectory,
  RequestAuthenticator,
} from './request-authenticator.js';

const PLATFORMS = new Map<string, Partial<PlatformSettings>>([
  ['shop', { default_api_version: '2025-01-27.acacia' }],
  ['strict', { require_version_header: true }],
]);
const key = (platform: string, kind: 'secret' | 'publishable', livemode = false) =>
  ({ status: 'valid', key: { platform, kind, livemode } }) as const;
const KEYS = new Map<string, ReturnType<KeyDirectory['find']>>([
  ['sk_test_a', key('shop', 'secret')],
  ['sk_live_a', key('shop', 'secret', true)],
  ['pk_test_a', key('shop', 'publishable')],
  ['sk_test_s', key('strict', 'secret')],
  ['sk_test_orphan', key('gone', 'secret')],
  ['sk_test_old', { status: 'ended' }],
]);
const BROKEN = 'sk_test_broken';

/** URLs of requests that were checked for an alias. */
const warned: string[] = [];

const authenticator = new RequestAuthenticator({
  keys: {
    find(text) {
      if (text === BROKEN) throw new TypeError('a bug');
      return KEYS.get(text) ?? { status: 'unknown' };
    },
  },
  platforms: {
    defaultVersion: '2025-12-15.clover',
    find(id): Platform | undefined {
      const own = PLATFORMS.get(id);
      return own && { id, createdMs: 0, settings: { ...DEFAULT_PLATFORM_SETTINGS, ...own } };
    },
  },
  random: new SeededRandom(1),
  headerPrefixes: ['Plinth', 'Other'],
  maxBodyBytes: 100,
  vendorWordWarnings: { warnAboutAlias: ({ url }) => warned.push(url) },
  findOperator({ headers }) {
    if (headers['authorization'] === 'Bearer away') throw new CredentialUncheckable(undefined);
    if (headers['authorization'] !== 'Bearer op') return undefined;
    return { kind: 'admin', tokenId: 1, tokenName: 'op' };
  },
});

const head = (headers: Readonly<Record<string, string>>, url = '/v2/core/accounts'): HttpHead =>
  requestHead({ method: 'POST', url, headers, from: '10.0.0.1' });
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/** Returns the code of the refusal, or the authenticated principal. */
function arrived(headers: Readonly<Record<string, string>>, url?: string): unknown {
  const { refusal, principal } = authenticator.of(head(headers, url));
  if (refusal === undefined) return principal;
  assert.deepEqual(principal, ANONYMOUS);
  return refusal instanceof AccountsRefused ? refusal.violation.code : refusal.kind;
}
const SHOP = { kind: 'platform_key', platform: 'shop', keyKind: 'secret', livemode: false };

it('finds the key in a bearer token and in a basic user name, ignoring case of the scheme', () => {
  const login = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const authorization of [
    ...['Bearer sk_test_a', 'bearer   sk_test_a', ' BEARER sk_test_a '],
    ...[login('sk_test_a:'), login('sk_test_a'), login('sk_test_a:x').replace('Basic', 'basic')],
  ]) {
    assert.deepEqual(arrived({ authorization }), SHOP, authorization);
  }
  assert.deepEqual(arrived(bearer('sk_live_a')), { ...SHOP, livemode: true });
  assert.deepEqual(arrived(bearer('pk_test_a')), { ...SHOP, keyKind: 'publishable' });
});

it('reports the fault of an invalid key', () => {
  assert.equal(arrived({}), 'api_key_missing');
  for (const authorization of ['', '  ', 'Bearer', 'Bearer ', 'Basic']) {
    assert.equal(arrived({ authorization }), 'api_key_missing', authorization);
  }
  for (const authorization of [
    'Digest',
    'sk_test_a',
    'Token sk_test_a',
    `Token ${Buffer.from('sk_test_a:').toString('base64')}`,
    'Bearer sk_test_b',
    'Basic eA==',
  ]) {
    assert.equal(arrived({ authorization }), 'api_key_invalid', authorization);
  }
  assert.equal(arrived(bearer('sk_test_old')), 'api_key_expired');
  assert.throws(() => arrived(bearer(BROKEN)), TypeError);
});

it("requires the server's token only below the operator's path, and nothing for the documentation", () => {
  const operator = { kind: 'admin', tokenId: 1, tokenName: 'op' };
  for (const url of ['/ops/v1/accounts', '/ops/v1/accounts/x?a=1']) {
    assert.deepEqual(arrived(bearer('op'), url), operator);
    assert.equal(arrived(bearer('sk_test_a'), url), 'operator_token_required');
    assert.equal(arrived(bearer('away'), url), 'credential_uncheckable');
  }
  assert.equal(arrived(bearer('op'), '/ops/v1/accountsx'), 'api_key_invalid');
  assert.equal(arrived(bearer('op')), 'api_key_invalid');
  for (const url of ['/docs/accounts', '/docs/accounts/x']) {
    assert.deepEqual(arrived({}, url), ANONYMOUS);
  }
  assert.equal(arrived({}, '/docs/accountsx'), 'api_key_missing');
});

it('recognizes a request by its id', () => {
  const [first, second] = [head(bearer('sk_test_a')), head(bearer('sk_test_a'))];
  assert.match(authenticator.of(first).requestId, /^req_[A-Za-z0-9]{14}$/);
  assert.equal(authenticator.of(first), authenticator.of(first));
  assert.notEqual(authenticator.of(first).requestId, authenticator.of(second).requestId);
});

/** Returns a request with a platform's key, as its route receives it. */
function granted(headers: Readonly<Record<string, string>>, url?: string) {
  const request = head(headers, url);
  const { principal } = authenticator.of(request);
  return Object.assign(request, { principal: principal as PrincipalOf<'platform'> });
}

/** Returns the code of the refusal by `contextOf` or of the authentication failure. */
function refused(headers: Readonly<Record<string, string>>, allows: 'secret' | 'any' = 'secret') {
  try {
    const request = granted(headers);
    const { refusal } = authenticator.of(request);
    if (refusal !== undefined) {
      authenticator.checkHead(request);
      throw refusal;
    }
    authenticator.contextOf(request, allows);
    return undefined;
  } catch (error) {
    if (error instanceof AccountsRefused) return error.violation.code;
    assert.ok(requestError.is(error, 'body_too_large'), String(error));
    return error.kind;
  }
}

it('checks size, version and key in this order', () => {
  const [large, wrong, none] = [{ 'content-length': '101' }, { 'plinth-version': 'x' }, {}];
  assert.equal(refused({ ...large, ...wrong, ...none }), 'body_too_large');
  assert.equal(refused({ ...bearer('sk_test_a'), ...large }), 'body_too_large');
  assert.equal(refused({ ...wrong, ...none }), 'invalid_api_version');
  assert.equal(
    refused({ ...bearer('sk_test_a'), 'plinth-version': '2020-01-01.a' }),
    'unsupported_api_version',
  );
  assert.equal(refused(none), 'api_key_missing');
  assert.equal(refused(bearer('sk_test_orphan')), 'api_key_invalid');
  assert.equal(refused({ ...bearer('sk_test_a'), 'content-length': '100' }), undefined);
});

it('requires a version if the platform does, and a secret key if the route does', () => {
  assert.equal(refused(bearer('sk_test_s')), 'api_version_required');
  assert.equal(
    refused({ ...bearer('sk_test_s'), 'other-version': '2025-01-27.acacia' }),
    undefined,
  );
  assert.equal(refused(bearer('pk_test_a')), 'secret_key_required');
  assert.equal(refused(bearer('pk_test_a'), 'any'), undefined);
  assert.equal(refused(bearer('sk_test_a'), 'any'), undefined);
});

it('reports the platform of a request to the service', () => {
  const headers = {
    ...bearer('sk_live_a'),
    'plinth-version': '2026-02-01.dahlia;x=1',
    'user-agent': 'u',
  };
  const request = granted(headers, '/v2/core/accounts?limit=1');
  const { settings, requestId, ...context } = authenticator.contextOf(request, 'secret');
  assert.equal(settings.default_api_version, '2025-01-27.acacia');
  assert.equal(requestId, authenticator.of(request).requestId);
  assert.deepEqual(context, {
    tenant: { platform: 'shop', livemode: true },
    versionDate: '2026-02-01',
    idempotencyKey: '',
    ...{
      method: 'POST',
      path: '/v2/core/accounts',
      keyKind: 'secret',
      ip: '10.0.0.1',
      userAgent: 'u',
    },
  });
  assert.equal(
    authenticator.contextOf(granted(bearer('sk_test_a')), 'any').versionDate,
    '2025-01-27',
  );
  assert.deepEqual(warned.slice(-2), ['/v2/core/accounts?limit=1', '/v2/core/accounts']);
});

it('lets operators act as the platform and mode in the path', () => {
  const of = (platform: string, mode: string) =>
    authenticator.operatorContextOf({
      ...head({ ...bearer('op'), 'if-match': '"1"' }),
      principal: ANONYMOUS,
      parameters: { platform, mode },
    });
  for (const [mode, livemode] of [
    ['live', true],
    ['test', false],
  ] as const) {
    const { tenant, isOperator, ifMatch, keyKind } = of('shop', mode);
    assert.deepEqual(tenant, { platform: 'shop', livemode });
    assert.deepEqual([isOperator, ifMatch, keyKind], [true, '"1"', 'secret']);
  }
  const refusalOf = (platform: string, mode: string): unknown => {
    try {
      of(platform, mode);
    } catch (error) {
      return (error as AccountsRefused).violation.code;
    }
    return undefined;
  };
  for (const mode of ['', 'Live', 'sandbox'])
    assert.equal(refusalOf('shop', mode), 'unrecognized_url');
  assert.equal(refusalOf('unknown', 'live'), 'not_found');
});

it("responds in the requested version, the platform's version or its own", () => {
  const of = (headers: Readonly<Record<string, string>>) => authenticator.versionOf(head(headers));
  const sent = '2026-02-01.dahlia';
  for (let i = 0; i < 2; i++) assert.equal(of({ 'other-version': `${sent};p=1` }), sent);
  assert.equal(of({ 'plinth-version': sent, 'other-version': 'x' }), sent);
  assert.equal(of({ ...bearer('sk_test_a'), 'plinth-version': 'x' }), '2025-01-27.acacia');
  assert.equal(of(bearer('sk_test_a')), '2025-01-27.acacia');
  assert.equal(of(bearer('sk_test_orphan')), '2025-12-15.clover');
  assert.equal(of({}), '2025-12-15.clover');
});

it("responds in the version of the platform in an operator's path", () => {
  const of = (text: string, path: string) =>
    authenticator.versionOf(head(bearer(text), `${AS_PLATFORM_PATH}${path}`));
  assert.equal(of('op', '/shop/test/v2/core/accounts?limit=1'), '2025-01-27.acacia');
  for (const [text, path] of [
    ['op', '/unknown/test/v2/core/accounts'],
    ['op', ''],
    ['op', '/'],
    ['nobody', '/shop/test/v2/core/accounts'],
    ['sk_test_a', '/shop/test/v2/core/accounts'],
  ] as const) {
    assert.equal(of(text, path), '2025-12-15.clover', `${text} ${path}`);
  }
});

it('finds paths below /v1, also in the paths of operators', () => {
  const as = `${AS_PLATFORM_PATH}/shop/test`;
  for (const [url, expected] of [
    ['/v1/customers', true],
    ['/v1/test_helpers/test_clocks?limit=1', true],
    [`${as}/v1/test_helpers/test_clocks`, true],
    ['/v1', false],
    ['/v2/core/accounts?x=/v1/test_helpers/', false],
    ['/v2/v1/test_helpers/', false],
    [`${as}/v2/core/accounts?x=/v1/test_helpers/`, false],
    [`${as}/v2/core/accounts/v1/test_helpers/`, false],
    ['/ops/v1/accounts/v1/test_helpers/', false],
    [AS_PLATFORM_PATH, false],
    [`${AS_PLATFORM_PATH}/v1/v1/`, false],
  ] as const) {
    assert.equal(isV1Path({ url }), expected, url);
  }
});

it('distinguishes paths below a prefix from paths that only start alike', () => {
  const requestUrl = ['/a/b', '/a/b?c', '/a/b/c', '/a/bc', '/a', '/x/a/b'];
  assert.deepEqual(
    requestUrl.map((url) => isBelow({ url }, '/a/b')),
    [true, true, true, false, false, false],
  );
});
