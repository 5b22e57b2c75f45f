// Source: docs/adr/0009-short-writes-without-the-framework.md, accounts, sections 2.2 to 2.5 and 5: creates are answered
// before the HTTP server, and every byte is what it would have answered. A header that nobody knows sends a request there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AccountsServer, KEYS, RawConnection } from '../../harness/index.js';

const CREATE = '/v2/core/accounts';
const UNKNOWN_HEADER = 'X-Unknown: 1';
const WHOLE_ANSWER = /^HTTP\/1\.1 \d{3} [\s\S]*\r\n\r\n\{[\s\S]*\}$/;

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

interface Create {
  readonly body: string;
  readonly target?: string;
  readonly key?: string | null;
  readonly headers?: readonly string[];
}

function requestText({ body, target = CREATE, key = KEYS.sk_test, headers = [] }: Create): string {
  const bytes = Buffer.from(body).toString('latin1');
  const lines = [
    `POST ${target} HTTP/1.1`,
    'Host: accounts.example.com',
    ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
    ...headers,
    `Content-Length: ${bytes.length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${bytes}`;
}

async function answerTo(create: Create): Promise<string> {
  using connection = await RawConnection.open(server.process.url);
  connection.send(requestText(create));
  return await connection.until(WHOLE_ANSWER);
}

/** Without what is another in every answer. */
const comparable = (answer: string): string =>
  answer
    .replace(/^date: .*\r\n/im, '')
    .replace(/req_[A-Za-z0-9]{14}/g, 'req')
    .replace(/acct_[A-Za-z0-9]{16}/g, 'acct')
    .replace(/"prefix":"[0-9A-F]{8}"/g, '"prefix"')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'instant');

/** As the official client sends them. */
const CLIENT_HEADERS = [
  'Accept: application/json',
  'Content-Type: application/json',
  'User-Agent: Stripe/v2 NodeBindings/23.1.0',
  'X-Stripe-Client-User-Agent: {"bindings_version":"23.1.0","lang":"node"}',
  'X-Stripe-Client-Telemetry: {"last_request_metrics":{"request_id":"req_1"}}',
  'Stripe-Version: 2026-10-28.endive',
  'Stripe-Account: acct_other',
  'Stripe-Context: acct_other',
];
const MERCHANT = {
  contact_email: 'a@example.com',
  dashboard: 'full',
  identity: { country: 'us', entity_type: 'company' },
  configuration: {
    customer: {},
    merchant: { capabilities: { card_payments: { requested: true } } },
  },
  defaults: { responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' } },
  include: ['configuration.customer', 'configuration.merchant', 'defaults', 'identity'],
};

const CASES: readonly (readonly [what: string, create: Create])[] = [
  ['nothing but an object', { body: '{}' }],
  ['a merchant', { body: JSON.stringify(MERCHANT), headers: CLIENT_HEADERS }],
  ['text beyond ASCII', { body: '{"display_name":"Ünïcode 店"}' }],
  [
    'a client that declares booleans',
    {
      body: '{"configuration":{"customer":{}},"include":["configuration.customer"]}',
      headers: ['User-Agent: Stripe/v2 GoBindings/85.0.0'],
    },
  ],
  [
    'another version',
    { body: '{}', headers: ['Api-Version: 2025-12-15.clover', 'Stripe-Version: x'] },
  ],
  ['a version that is none', { body: '{}', headers: ['Stripe-Version: x'] }],
  ['an unknown field', { body: '{"colour":"red"}' }],
  ['a refusal that refers to the guide', { body: '{"defaults":{"currency":"bgn"}}' }],
  ['no object', { body: '[]' }],
  ['no JSON', { body: '{"display_name":' }],
  ['another type', { body: '{}', headers: ['Content-Type: text/plain'] }],
  ['a parameter in the query', { body: '{}', target: `${CREATE}?expand=1` }],
  [
    'an idempotency key that is too long',
    { body: '{}', headers: [`Idempotency-Key: ${'k'.repeat(256)}`] },
  ],
  ['the key of nobody', { body: '{}', key: 'sk_test_nobody' }],
  ['no key', { body: '{}', key: null }],
  ['a publishable key', { body: '{}', key: KEYS.pk_test }],
  ['a live key', { body: '{}', key: KEYS.sk_live }],
  [
    'a body that is longer than plain ones',
    {
      body: JSON.stringify({ metadata: { long: 'x'.repeat(20_000) } }),
    },
  ],
];

describe('a create', () => {
  for (const [what, create] of CASES) {
    it(`gets the answer of the HTTP server: ${what}`, async () => {
      const headers = [...(create.headers ?? []), UNKNOWN_HEADER];
      const answer = comparable(await answerTo(create));
      assert.equal(answer, comparable(await answerTo({ ...create, headers })));
      assert.match(answer, /^HTTP\/1\.1 \d{3} [\s\S]*\r\nrequest-id: req\r\n/);
    });
  }

  it('row 13: is repeated across both ways, and refused with other parameters', async () => {
    for (const [index, first] of [[], [UNKNOWN_HEADER]].entries()) {
      const second = index === 0 ? [UNKNOWN_HEADER] : [];
      const key = `Idempotency-Key: both-${index}`;
      const body = '{"display_name":"once"}';
      const made = await answerTo({ body, headers: [key, ...first] });
      const repeated = await answerTo({ body, headers: [key, ...second] });
      assert.equal(bodyOf(repeated), bodyOf(made));
      assert.match(repeated, /\r\nidempotent-replayed: true\r\noriginal-request: req_/);
      const other = { body: '{"display_name":"twice"}', headers: [key, ...second] };
      const refused = await answerTo(other);
      assert.match(refused, /^HTTP\/1\.1 409 [\s\S]*\r\nstripe-should-retry: false\r\n/);
      const same = await answerTo({ ...other, headers: [key, ...first] });
      assert.equal(comparable(refused), comparable(same));
    }
  });

  it('is followed by requests of every kind on its connection', async () => {
    using connection = await RawConnection.open(server.process.url);
    const create = requestText({ body: '{"display_name":"mixed"}' });
    connection.send(create);
    const [, id] = /"id":"(acct_\w+)"/.exec(await connection.until(WHOLE_ANSWER)) ?? [];
    const read = ['Host: localhost', `Authorization: Bearer ${KEYS.sk_test}`].join('\r\n');
    connection.send(`${create.slice(0, -5)}`);
    connection.send(`${create.slice(-5)}GET ${CREATE}/${id} HTTP/1.1\r\n${read}\r\n\r\n`);
    const all = await connection.until(/(HTTP\/1\.1 200 [\s\S]*?"requirements":null\}){3}$/);
    assert.equal(all.split(`"id":"${id}"`).length, 3);
  });

  it('row 14: tells the limit of parallel creates by the same bytes', async () => {
    await server.withSettings({ update_concurrency_limit: 0 }, async () => {
      const answer = comparable(await answerTo({ body: '{}' }));
      assert.match(answer, /^HTTP\/1\.1 429 [\s\S]*\r\nretry-after: 1\r\n/);
      const asked = { body: '{}', headers: [UNKNOWN_HEADER] };
      assert.equal(answer, comparable(await answerTo(asked)));
    });
  });
});

const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);
