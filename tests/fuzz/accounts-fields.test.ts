// Source: accounts, sections 2.5 and 10: every body is accepted or refused with a code, and a refusal changes nothing.
// Own process: the server has to survive.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccountsServer, Chance, type HttpResponse, type Json } from '../harness/index.js';

const DURATION_MS = 10_000;
const CLIENT_COUNT = 4;
/** No request body may keep the server busy for longer. */
const PATIENCE_MS = 5_000;
const SECRET = '123-45-6789';

const ADDRESS: Json = {
  country: 'jp',
  line1: '1-1',
  line2: 'x',
  city: 'Tokyo',
  state: 'Tokyo',
  town: 'Chiyoda',
  postal_code: '100-0001',
};
const PERSON: Json = {
  surname: 'Rosen',
  email: 'jenny@example.com',
  phone: '+81312345678',
  address: ADDRESS,
  additional_addresses: [{ purpose: 'registered', ...ADDRESS }],
  additional_names: [{ purpose: 'alias', full_name: 'Jen' }],
  date_of_birth: { day: 1, month: 2, year: 1980 },
  nationalities: ['us', 'jp'],
  id_numbers: [{ type: 'us_ssn', value: SECRET }],
  documents: { passport: { type: 'files', files: ['file_address_success'] } },
  script_addresses: { kana: ADDRESS, kanji: ADDRESS },
  script_names: { kana: { given_name: 'ｼﾞｪﾆｰ' }, kanji: { surname: '漢字' } },
  metadata: { a: 'b' },
};
const ACCOUNT: Json = {
  contact_email: 'a@example.com',
  contact_phone: '+81312345678',
  display_name: 'Furever',
  dashboard: 'none',
  include: ['identity', 'defaults', 'configuration.merchant', 'requirements'],
  metadata: { a: 'b' },
  defaults: {
    currency: 'jpy',
    locales: ['ja-JP'],
    timezone: 'Asia/Tokyo',
    profile: { business_url: 'https://example.com', product_description: 'x' },
    responsibilities: { fees_collector: 'application', losses_collector: 'application' },
  },
  configuration: {
    customer: {
      automatic_indirect_tax: { exempt: 'none', ip_address: '127.0.0.1' },
      billing: {
        default_payment_method: 'pm_card_visa',
        invoice: { footer: 'x', next_sequence: 2, custom_fields: [{ name: 'a', value: 'b' }] },
      },
      capabilities: { automatic_indirect_tax: { requested: true } },
      shipping: { name: 'Jenny', phone: '0000000000', address: ADDRESS },
    },
    merchant: {
      mcc: '5734',
      branding: { primary_color: '#123456' },
      capabilities: { card_payments: { requested: true }, konbini_payments: { requested: true } },
      konbini_payments: {
        support: {
          email: 'a@example.com',
          phone: '03-1234-5678',
          hours: { start_time: '09:00', end_time: '17:00' },
        },
      },
      script_statement_descriptor: { kana: { descriptor: 'ｶﾅ' }, kanji: { descriptor: '漢字' } },
      sepa_debit_payments: { creditor_id: 'DE98ZZZ09999999999' },
      statement_descriptor: { descriptor: 'FUREVER', prefix: 'FUR' },
      support: {
        address: ADDRESS,
        email: 'a@example.com',
        phone: '+81312345678',
        url: 'example.com',
      },
    },
  },
  identity: {
    country: 'jp',
    entity_type: 'company',
    attestations: { persons_provided: { owners: true } },
    business_details: {
      address: ADDRESS,
      additional_addresses: [{ purpose: 'administrative', ...ADDRESS }],
      annual_revenue: { amount: { value: 1, currency: 'jpy' }, fiscal_year_end: '2025-12-31' },
      documents: { proof_of_address: { type: 'files', files: ['file_address_success'] } },
      id_numbers: [{ type: 'jp_cn', value: '1234567890123' }],
      phone: '+81312345678',
      registered_name: 'Furever',
      registration_date: { day: 1, month: 1, year: 2001 },
      script_addresses: { kana: ADDRESS, kanji: ADDRESS },
      script_names: { kana: { registered_name: 'ｶﾅ' }, kanji: { registered_name: '漢字' } },
      structure: 'private_company',
    },
  },
};

const HOSTILE: readonly unknown[] = [
  null,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💣'.repeat(40),
  'a'.repeat(5000),
  `${'a@'.repeat(300)}b.co`,
  `a@${'b.'.repeat(390)}c`,
  `https://${'a.'.repeat(900)}com`,
  `http://[${'1:'.repeat(500)}]`,
  '+'.repeat(39),
  '1'.repeat(4999),
  '(((((((((('.repeat(400),
  'ﾊﾟ'.repeat(2000),
  '-1',
  '1e309',
  '__proto__',
  'constructor',
  'toString',
  'US-CA',
  'xx',
  -1,
  0,
  0.1,
  1e21,
  9_007_199_254_740_992,
  true,
  false,
  [],
  {},
  [null],
  [[]],
  { __proto__x: 1 },
  { requested: null },
  { requested: false },
  { applied: false },
  { country: 'ZZ' },
];

const TEXTS = HOSTILE.filter((value) => typeof value === 'string');

describe('accounts and persons under hostile bodies', () => {
  it('are accepted or refused with a code, and change only when accepted', async (t) => {
    const seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000);
    await using server = await AccountsServer.startProcess();
    const counts = new Map<string, number>();
    const endMs = Date.now() + DURATION_MS;
    await Promise.all(
      Array.from({ length: CLIENT_COUNT }, async (_, index) => {
        const chance = new Chance(seed * 7 + index);
        const settings = { country: 'JP', storer_preview: index === 0 };
        const { id } = await server.operate('/platforms', settings);
        const keys = `/platforms/${id}/keys`;
        const { value: key } = await server.operate(keys, { kind: 'secret', livemode: false });
        const send: Send = (path, body) => server.send(`/v2/core/${path}`, { body, key });
        const client = new Client(send, chance, counts);
        await client.begin();
        while (Date.now() < endMs) await client.step();
      }),
    );
    assert.ok(server.process.isRunning, server.process.logText);
    const seen = [...counts].sort(([, a], [, b]) => b - a);
    t.diagnostic(`seed ${seed}: ${seen.map(([code, count]) => `${count} x ${code}`).join(', ')}`);
    assert.ok(seen.length >= 5, 'the bodies reach the rules');
  });
});

/** Sends a request for a platform that no other client uses. */
type Send = (path: string, body?: unknown) => Promise<HttpResponse>;

class Client {
  readonly #send: Send;
  readonly #chance: Chance;
  readonly #counts: Map<string, number>;
  #account = '';
  #person = '';

  constructor(send: Send, chance: Chance, counts: Map<string, number>) {
    this.#send = send;
    this.#chance = chance;
    this.#counts = counts;
  }

  async begin(): Promise<void> {
    this.#account = await this.#make('accounts', {
      identity: { country: 'jp', entity_type: 'company' },
      configuration: { customer: {}, merchant: {} },
    });
    this.#person = await this.#make(`accounts/${this.#account}/persons`, {});
  }

  async step(): Promise<void> {
    const account = `accounts/${this.#account}`;
    const kinds = [
      ['accounts', ACCOUNT],
      [account, ACCOUNT],
      [`${account}/persons`, PERSON],
      [`${account}/persons/${this.#person}`, PERSON],
    ] as const;
    const [path, whole] = this.#chance.pick(kinds);
    const body = this.#mutated(whole);
    const isUpdate = path !== 'accounts' && path !== `${account}/persons`;
    const before = isUpdate ? (await this.#send(path)).text : undefined;
    const response = await withPatience(this.#send(path, body), { path, body });
    this.#check(response.text, response.status, { path, body });
    if (before === undefined || response.status === 200) return;
    assert.equal((await this.#send(path)).text, before, 'a refusal changes nothing');
  }

  async #make(path: string, body: Json): Promise<string> {
    const { status, text } = await this.#send(path, body);
    assert.equal(status, 200, text);
    return JSON.parse(text).id;
  }

  #check(
    text: string,
    status: number,
    sent: { readonly path: string; readonly body: unknown },
  ): void {
    const about = `${status} ${text}\n${sent.path} ${JSON.stringify(sent.body)}`;
    assert.ok(status === 200 || (status >= 400 && status < 500), about);
    assert.ok(!text.includes(SECRET), about);
    const { error } = JSON.parse(text) as { error?: { code: string; message: string } };
    assert.equal(error === undefined, status === 200, about);
    if (error) assert.match(error.code, /^[a-z0-9_]+$/, about);
    if (error) assert.equal(typeof error.message, 'string', about);
    const name = error?.code ?? 'taken';
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Replaces one to three parts of a valid body. */
  #mutated(whole: Json): unknown {
    // Without its identity and its configuration, no other member of an account is validated.
    const parts = Object.entries(whole).filter(
      ([name]) => name === 'configuration' || name === 'identity' || this.#chance.happens(0.5),
    );
    const body = structuredClone(Object.fromEntries(parts));
    for (let count = this.#chance.between(0, 3); count > 0; count--) this.#spoil(body);
    return body;
  }

  /** Mostly values of the same type: other types fail at the schema. */
  #hostile(instead: unknown): unknown {
    const isOther = typeof instead !== 'string' || this.#chance.happens(0.2);
    return structuredClone(this.#chance.pick(isOther ? HOSTILE : TEXTS));
  }

  #spoil(tree: Record<string, unknown> | unknown[]): void {
    const keys = Object.keys(tree);
    if (keys.length === 0) return;
    const key = this.#chance.pick(keys);
    const inner: unknown = Reflect.get(tree, key);
    const isTree = typeof inner === 'object' && inner !== null;
    if (isTree && this.#chance.happens(0.85)) this.#spoil(inner as Record<string, unknown>);
    else Reflect.set(tree, key, this.#hostile(inner));
  }
}

async function withPatience<T>(work: Promise<T>, sent: object): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer: ${JSON.stringify(sent)}`)), PATIENCE_MS);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
