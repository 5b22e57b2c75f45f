// Source: docs/spec/webhooks.md, sections 2.2, 4, 7.3, 9 and 10.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ConfigInvalid, loadSettings, TargetGuard, ValidationFailed } from '@plinth/kernel';
import { WEBHOOKS_SETTINGS } from '../config.js';
import type { Hook } from '../model/hook.js';
import { HookRules } from './hook-rules.js';

const SETTINGS = { httpsOnly: false, acceptMaskAsSecret: false };
const guard = new TargetGuard({ allowed: [] });
const rules = new HookRules(guard, SETTINGS);
const ACTIVE = { active: true, disabled: undefined } as Hook; // all that the rules read

type Fields = Readonly<Record<string, unknown>>;

/** Returns the errors of a change by an operator, which must equal those of the app for its own members. */
function errorsOf(fields: Fields, check = (given: Fields) => rules.checkAll(given)): unknown {
  try {
    check(fields);
    return [];
  } catch (error) {
    assert.ok(error instanceof ValidationFailed);
    return error.errors;
  }
}

it('accepts the same retry delays in settings and from operators', () => {
  const check = (delaySec: number, isAccepted: boolean): void => {
    const flags = new Map([['webhooks-retry-schedule', `1,${delaySec}`]]);
    const load = () => loadSettings({ webhooks: WEBHOOKS_SETTINGS }, { env: {}, flags });
    const retry = { policy: 'schedule', schedule: [1, delaySec] };
    if (isAccepted) assert.deepEqual([load() && true, errorsOf({ retry })], [true, []]);
    else {
      assert.throws(load, ConfigInvalid, `setting ${delaySec}`);
      assert.notDeepEqual(errorsOf({ retry }), [], `request ${delaySec}`);
    }
  };
  for (const delaySec of [0, 0.5, 604_800]) check(delaySec, true);
  for (const delaySec of [-1, 604_801, 999_999]) check(delaySec, false);
});

describe('the members that apps and operators may set', () => {
  const asApp = (fields: Fields) => rules.checkConfig(fields, ACTIVE);
  const check = (fields: Fields, change: object): void => {
    assert.deepEqual(asApp(fields), change);
    assert.deepEqual(rules.checkAll(fields), change);
  };
  const refuse = (fields: Fields, error: object): void => {
    const errors = [{ resource: 'Hook', ...error }];
    assert.deepEqual(errorsOf(fields), errors, JSON.stringify(fields));
    assert.deepEqual(errorsOf(fields, asApp), errors, JSON.stringify(fields));
  };

  it('are only the known ones', () => {
    check({}, {});
    check({ unknown: 1 }, {});
    for (const content_type of ['json', 'form']) check({ content_type }, { content_type });
    for (const given of ['0', 0]) check({ insecure_ssl: given }, { insecure_ssl: false });
    for (const given of ['1', 1]) check({ insecure_ssl: given }, { insecure_ssl: true });
    for (const secret of ['', null]) check({ secret }, { secret: null });
    check({ secret: 'x'.repeat(1024) }, { secret: 'x'.repeat(1024) });
    check({ secret: '********' }, {});
    const taking = new HookRules(guard, { ...SETTINGS, acceptMaskAsSecret: true });
    assert.deepEqual(taking.checkAll({ secret: '********' }), { secret: '********' });
    check({ url: 'http://u:p@example.com/a?b=c#d' }, { url: 'http://u:p@example.com/a?b=c' });
  });

  it('are refused with the documented errors', () => {
    for (const [field, value] of [
      ['content_type', 'xml'],
      ['insecure_ssl', 2],
      ['insecure_ssl', '2'],
    ] as const) {
      refuse({ [field]: value }, { field, code: 'invalid', value });
    }
    const message = 'secret must be a string of at most 1024 bytes';
    for (const secret of ['x'.repeat(1025), 'é'.repeat(513), '\ud800']) {
      refuse({ secret }, { field: 'secret', code: 'custom', message });
    }
    const unreachable = (host: string) =>
      `url is not supported because it isn't reachable over the public Internet (${host})`;
    for (const [url, message] of [
      ['', 'url cannot be blank'],
      [null, 'url cannot be blank'],
      ...['example.com', 'ftp://example.com/', 'http://', 'http:///x', 'http://a b/'].map(
        (url) => [url, 'url is malformed'] as const,
      ),
      ...['http://a.example/\0', 'http://a.example/\n', `http://a.example/${'x'.repeat(2050)}`].map(
        (url) => [url, 'url is malformed'] as const,
      ),
      ['http://10.1.2.3/', unreachable('10.1.2.3')],
      ['http://0xa.1/', unreachable('10.0.0.1')],
      ['http://localhost/', unreachable('localhost')],
      ['http://[::1]/', unreachable('::1')],
      ['http://[::ffff:192.168.0.1]/', unreachable('::ffff:c0a8:1')],
      ['https://169.254.169.254/latest', unreachable('169.254.169.254')],
    ] as const) {
      refuse({ url }, { field: 'url', code: 'custom', message });
    }
    const secure = new HookRules(guard, { ...SETTINGS, httpsOnly: true });
    assert.deepEqual(
      errorsOf({ url: 'http://example.com/' }, (fields) => secure.checkAll(fields)),
      [{ resource: 'Hook', field: 'url', code: 'custom', message: 'url must use https' }],
    );
  });

  it('include a URL only as a string', () => {
    const message = 'url is malformed';
    const errors = [{ resource: 'Hook', field: 'url', code: 'custom', message }];
    for (const url of [['http://example.com/'], 5]) assert.deepEqual(errorsOf({ url }), errors);
  });

  it('are reported together', () => {
    const errors = errorsOf({ url: '', content_type: 'xml', insecure_ssl: 2, secret: 'ok' });
    assert.deepEqual(
      (errors as { field: string }[]).map(({ field }) => field),
      ['url', 'content_type', 'insecure_ssl'],
    );
  });

  it('must have their JSON type when an app sends them', () => {
    const fields = { url: 123, content_type: null, insecure_ssl: true, secret: ['x'] };
    assert.throws(() => asApp(fields), {
      kind: 'shape_invalid',
      message: `Invalid request.

For 'properties/url', 123 is not a string.
For 'properties/content_type', null is not a string.
For 'properties/secret', ["x"] is not a string.
For 'properties/insecure_ssl', true is not a string or number.`,
    });
  });
});

it('lets an app enable its webhook only if the server disabled it', () => {
  const off = { active: false, disabled: { reason: 'r', atMs: 0 } } as Hook; // all that the rules read
  assert.deepEqual(rules.checkConfig({ active: true }, off), { active: true });
  assert.deepEqual(rules.checkConfig({ active: false }, off), {});
  assert.deepEqual(rules.checkConfig({ active: true }, ACTIVE), {});
  const byOperator = { ...off, disabled: undefined };
  assert.deepEqual(
    errorsOf({ active: true }, (fields) => rules.checkConfig(fields, byOperator)),
    [
      {
        ...{ resource: 'Hook', field: 'active', code: 'custom' },
        message: 'The operator disabled this webhook',
      },
    ],
  );
});

describe('the members of operators', () => {
  const check = (
    field: string,
    accepted: readonly unknown[],
    refused: readonly unknown[],
  ): void => {
    for (const value of accepted) {
      assert.deepEqual(rules.checkAll({ [field]: value }), { [field]: value });
    }
    for (const value of refused) {
      const expected = [{ resource: 'Hook', field, code: 'invalid', value }];
      assert.deepEqual(errorsOf({ [field]: value }), expected);
    }
  };

  it('have these values', () => {
    check('active', [true, false], [1, 'true', null]);
    check('ordering', ['none', 'key'], ['keys', null]);
    check('standard_webhooks', ['off', 'hmac', 'ed25519'], ['on', 1]);
    const names = Array.from({ length: 500 }, (_, index) => `e${index}`);
    check(
      'events',
      [[], ['*'], ['a', 'a.b', 'a.*', 'a-b_c*'], names],
      [...['issues', null, {}, [5], ['A'], [''], ['a b'], ['**'], ['*a']], [...names, 'one']],
    );
    assert.deepEqual(rules.checkAll({ events: ['a', 'a'] }), { events: ['a'] });
    check(
      'retry',
      [null, { policy: 'none' }, { policy: 'standard' }],
      [
        ...[5, {}, { policy: 'often' }, { policy: 'schedule' }],
        ...[[604_801], [-1], [], ['5'], Array(21).fill(1)].map((schedule) => ({
          policy: 'schedule',
          schedule,
        })),
      ],
    );
    const most = { policy: 'schedule', schedule: Array(20).fill(604_800) };
    check('retry', [most, { policy: 'schedule', schedule: [0] }], []);
  });

  it('include headers, but not those of the delivery or the connection', () => {
    const reserved = [
      ...['Host', 'content-length', 'Transfer-Encoding', 'Authorization', 'Proxy-Authorization'],
      ...['X-Hub-Signature-256', 'webhook-signature', 'X-Vendor-Event', 'X-GitHub-Delivery'],
      ...['x-vendor-hook-id', 'X-A-Enterprise-Host', 'Accept', 'TE', 'Upgrade', 'User-Agent'],
    ];
    const malformed = ['A B', 'A\r\nB', 'A:', '', 'x'.repeat(101)];
    const values = ['x\0y', 'x\r\ny', '1 €', 'x'.repeat(1001), 5, null];
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`A${index}`, 'x']));
    const { A0: _, ...most } = many;
    check(
      'custom_headers',
      [{}, { A: '' }, { 'X-Mine': 'é\t~' }, { ['x'.repeat(100)]: 'x'.repeat(1000) }, most],
      [
        ...['A', null, ['A'], many],
        ...[...reserved, ...malformed].map((name) => ({ [name]: 'x' })),
        ...values.map((value) => ({ A: value })),
      ],
    );
  });
});

it('explains to operators why it does not deliver to a URL', () => {
  const check = (url: string, problem: string | undefined, with_ = rules): void =>
    assert.equal(with_.targetProblem(url), problem, url);
  check('https://example.com', undefined);
  check('http://8.8.8.8:8080/hook', undefined);
  check('example.com', 'invalid URL "example.com"; use http://host or https://host');
  const inRange = (host: string, range: string): string =>
    `${host} is in the blocked range ${range}; use a public address, or add the range to webhooks.allow_private_targets`;
  check('http://10.1.2.3/', inRange('10.1.2.3', '10.0.0.0/8'));
  check('https://[fd00::1]/', inRange('fd00::1', 'fc00::/7'));
  check('http://localhost:3000', inRange('localhost', '127.0.0.0/8'));
  const https = new HookRules(guard, { ...SETTINGS, httpsOnly: true });
  const onlyHttps = 'http://example.com uses http, but webhooks.https_only is set; use https';
  check('http://example.com/path?q=1', onlyHttps, https);
  check('example.com', 'invalid URL "example.com"; use https://host', https);
  const own = new TargetGuard({ allowed: ['127.0.0.0/8'], allowedPorts: [443, 8181] });
  own.blockListeners([
    { address: '127.0.0.1', port: 8181 },
    { address: '127.0.0.1', port: 443, isNeverTarget: true },
  ]);
  const ported = new HookRules(own, SETTINGS);
  const port = 'port 22 of a.com is not allowed; use 443 or 8181 (webhooks.allowed_ports)';
  check('http://a.com:22', port, ported);
  check('https://127.0.0.1', '127.0.0.1:443 is this server; use another receiver', ported);
  check(
    'http://127.0.0.1:8181',
    '127.0.0.1:8181 is this server; use another receiver, or add its address to webhooks.allow_private_targets',
    ported,
  );
});

it('checks a URL with the rules that apply when it is saved', () => {
  const own = new TargetGuard({ allowed: ['10.0.0.0/8'], allowedPorts: [80, 443, 8181] });
  own.blockListeners([{ address: '10.0.0.1', port: 8181, isNeverTarget: true }]);
  for (const httpsOnly of [false, true]) {
    const both = new HookRules(own, { ...SETTINGS, httpsOnly });
    for (const [url, isAllowed] of [
      ['https://example.com/', true],
      ['http://example.com/', !httpsOnly],
      ['https://10.0.0.1/', true],
      ['https://10.0.0.1:8181/', false],
      ['https://192.168.0.1/', false],
      ['https://localhost/', false],
      ['https://example.com:22/', false],
      ['ftp://example.com/', false],
      ['nothing', false],
    ] as const) {
      const saved = isDeepStrictEqual(
        errorsOf({ url }, (fields) => both.checkAll(fields)),
        [],
      );
      assert.equal(both.targetProblem(url) === undefined, isAllowed, url);
      assert.equal(saved, isAllowed, url);
    }
  }
});
