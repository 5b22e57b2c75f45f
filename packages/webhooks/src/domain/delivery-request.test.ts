// Source: webhooks, sections 6.1 to 6.5 and 9.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Hook } from '../model/hook.js';
import {
  makeDeliveryRequest,
  makeSignedBody,
  recordedHeaders,
  signingJob,
} from './delivery-request.js';
import { hubSignature, standardSignature } from './signature.js';

const GUID = '0b989ba4-242f-11e5-81e1-c7b6966d2516';
const NOW_MS = 1_700_000_000_500;
const SETTINGS = {
  ...{ vendorName: 'Vendor', userAgent: 'Vendor-Hookshot/abc1234', legacySha1: true },
  enterprise: undefined,
};
const JSON_TEXT = '{"action":"opened","note":"a b&c"}';
const FORM_TEXT = 'payload=%7B%22action%22%3A%22opened%22%2C%22note%22%3A%22a+b%26c%22%7D';

function requestOf(
  more: Partial<Hook> = {},
  settings: Partial<Parameters<typeof signingJob>[0]['settings']> = {},
) {
  const plain = { id: 3, appId: 7, url: 'https://example.com/', content_type: 'json' };
  const off = { custom_headers: {}, secrets: { current: undefined }, standard_webhooks: 'off' };
  const hook = { ...plain, ...off, ...more } as Hook; // all that a request depends on
  const given = { hook, settings: { ...SETTINGS, ...settings }, guid: GUID };
  const payload = Buffer.from(JSON_TEXT);
  const signed = makeSignedBody(signingJob({ ...given, payload, nowMs: NOW_MS }));
  const { headers, body } = makeDeliveryRequest({ ...given, event: 'issues', payload, signed });
  return { headers, body: Buffer.from(body).toString() };
}

const HEADERS = {
  Accept: '*/*',
  'Content-Type': 'application/json',
  'User-Agent': 'Vendor-Hookshot/abc1234',
  'X-Vendor-Delivery': GUID,
  'X-Vendor-Event': 'issues',
  'X-Vendor-Hook-ID': '3',
  'X-Vendor-Hook-Installation-Target-ID': '7',
  'X-Vendor-Hook-Installation-Target-Type': 'integration',
};

it('has the documented headers, and those of the webhook', () => {
  assert.deepEqual(requestOf(), { headers: HEADERS, body: JSON_TEXT });
  const custom = requestOf({ custom_headers: { 'X-Mine': 'yes' } }).headers;
  assert.deepEqual(custom, { ...HEADERS, 'X-Mine': 'yes' });
  const enterprise = { host: 'hooks.example.com:8443', version: '1.2.3' };
  assert.deepEqual(requestOf({}, { enterprise }).headers, {
    ...HEADERS,
    'X-Vendor-Enterprise-Host': enterprise.host,
    'X-Vendor-Enterprise-Version': enterprise.version,
  });
});

it('is signed over the exact bytes of its body, in both content types', () => {
  const secrets = { current: 's3cret' };
  const json = requestOf({ secrets });
  assert.deepEqual(json.headers, {
    ...HEADERS,
    'X-Hub-Signature': 'sha1=eb760e7398be762bbc59f2197981c4224a24374f',
    'X-Hub-Signature-256':
      'sha256=7c96a1d02a12fd4cebfa522486336fac58b0d9fd55998711a67fba2cbda6b737',
  });
  const form = requestOf({ secrets, content_type: 'form' }, { legacySha1: false });
  assert.equal(form.body, FORM_TEXT);
  assert.deepEqual(form.headers, {
    ...HEADERS,
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Hub-Signature-256':
      'sha256=402a05247408bdf03d93d33eeca4977a652356b6f062161c3563ae250feb648c',
  });
});

it('sends the credentials of the URL as a Basic header', () => {
  for (const [login, text] of [
    ['user:pass', 'user:pass'],
    ['us%40er:p%3Ass', 'us@er:p:ss'],
    ['only', 'only:'],
    ['100%:x', '100%:x'],
  ] as const) {
    const { headers } = requestOf({ url: `http://${login}@example.com/` });
    assert.equal(headers['Authorization'], `Basic ${btoa(text)}`);
  }
});

it('signs with the previous secret only as chosen, and only until it expires', () => {
  const message = { id: GUID, timestamp: 1_700_000_000, body: Buffer.from(JSON_TEXT) };
  const check = (previous: Hook['secrets']['previous'], signer: string, both: string[]): void => {
    const secrets = { current: 'new', ed25519: 'not used', ...(previous && { previous }) };
    const { headers } = requestOf({ secrets, standard_webhooks: 'hmac' });
    assert.equal(headers['X-Hub-Signature-256'], hubSignature('sha256', signer, message.body));
    const expected = both.map((secret) => standardSignature(secret, message)).join(' ');
    assert.equal(headers['webhook-signature'], expected);
    assert.deepEqual([headers['webhook-id'], headers['webhook-timestamp']], [GUID, '1700000000']);
  };
  check(undefined, 'new', ['new']);
  const old = { text: 'old', untilMs: NOW_MS + 1 };
  check({ ...old, signs: true }, 'old', ['new', 'old']);
  check({ ...old, signs: false }, 'new', ['new', 'old']);
  check({ ...old, untilMs: NOW_MS, signs: true }, 'new', ['new']);
});

it('is recorded without the values that only the receiver may see', () => {
  const headers = { 'X-Mine': 'key', Authorization: 'Basic x', Accept: '*/*' };
  assert.deepEqual(recordedHeaders(headers, { 'X-Mine': 'key' }), {
    ...{ 'X-Mine': '********', Authorization: '********', Accept: '*/*' },
  });
});
