import assert from 'node:assert/strict';
import { type HttpAnswer, ServerProcess } from '../../harness/index.js';

export type Json = Readonly<Record<string, unknown>>;
export type KeyKind = 'secret' | 'publishable';

/** A server with the accounts service whose operator makes a platform for each case. */
export class RuleBench implements AsyncDisposable {
  readonly server: ServerProcess;
  readonly #admin: string;

  static async start(flags: readonly string[] = []): Promise<RuleBench> {
    const server = await ServerProcess.start({ flags: ['--services', 'accounts', ...flags] });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    return new RuleBench(server, textOf(made, 'token'));
  }

  private constructor(server: ServerProcess, admin: string) {
    this.server = server;
    this.#admin = admin;
  }

  /** An operator's request; its answer must be good. */
  async ops(method: string, path: string, body?: Json): Promise<HttpAnswer> {
    const answer = await this.tryOps(method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    return answer;
  }

  /** The same, whatever the answer. */
  async tryOps(method: string, path: string, body?: Json): Promise<HttpAnswer> {
    return await this.server.http.send(`/ops/v1/accounts/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#admin}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** A platform that nobody else uses, with its settings merged into the defaults. */
  async platform(settings: Json = {}): Promise<TestPlatform> {
    const id = textOf(await this.ops('POST', 'platforms', settings), 'id');
    return new TestPlatform(this, id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

export interface CallOptions {
  readonly kind?: KeyKind;
  readonly live?: boolean;
  readonly version?: string;
  readonly idempotencyKey?: string;
  readonly method?: string;
}

export class TestPlatform {
  readonly id: string;
  readonly #bench: RuleBench;
  readonly #keys = new Map<string, Promise<string>>();

  constructor(bench: RuleBench, id: string) {
    this.#bench = bench;
    this.id = id;
  }

  async ops(method: string, path: string, body?: Json): Promise<HttpAnswer> {
    return await this.#bench.ops(method, `platforms/${this.id}${path}`, body);
  }

  async key(kind: KeyKind = 'secret', livemode = false): Promise<string> {
    const name = `${kind} ${livemode}`;
    const made = this.#keys.get(name) ?? this.#makeKey(kind, livemode);
    this.#keys.set(name, made);
    return await made;
  }

  /** A request as an integration sends it; `path` follows `/v2/core/`. */
  async call(path: string, body?: unknown, options: CallOptions = {}): Promise<HttpAnswer> {
    const { kind, live, version, idempotencyKey } = options;
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    return await this.#bench.server.http.send(`/v2/core/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.key(kind, live)}`,
        'content-type': 'application/json',
        ...(version !== undefined && { 'api-version': version }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** What must succeed on the way to a refusal; returns the id of what was made. */
  async make(path: string, body: unknown, options: CallOptions = {}): Promise<string> {
    const answer = await this.call(path, body, options);
    assert.equal(answer.status, 200, `${path}: ${answer.text}`);
    return textOf(answer, 'id');
  }

  async fixture(kind: string, body: Json): Promise<string> {
    return textOf(await this.ops('POST', `/${kind}`, body), 'id');
  }

  async state(account: string, patch: Json): Promise<void> {
    await this.ops('PATCH', `/accounts/${account}/state`, patch);
  }

  /** The answer says that the clock is on its way, which takes two seconds. */
  async advanceClock(id: string, frozenTime: number): Promise<void> {
    const answer = await this.#bench.server.http.send(
      `/v1/test_helpers/test_clocks/${id}/advance`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await this.key()}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ frozen_time: frozenTime }),
      },
    );
    assert.equal(answer.status, 200, answer.text);
    assert.equal(textOf(answer, 'status'), 'advancing');
  }

  async #makeKey(kind: KeyKind, livemode: boolean): Promise<string> {
    return textOf(await this.ops('POST', '/keys', { kind, livemode }), 'value');
  }
}

export function textOf({ text }: HttpAnswer, name: string): string {
  const value: unknown = Reflect.get(Object(JSON.parse(text)), name);
  assert.equal(typeof value, 'string', `${name} of ${text}`);
  return String(value);
}

/** What the body of a refusal must hold. Source: accounts, section 2.5 and the columns Ex of 13 and 14. */
export interface Refusal {
  readonly code: string;
  readonly status?: number;
  /** `U`: user_message, `D`: doc_url. */
  readonly ex?: '' | 'U' | 'D' | 'UD';
  readonly type?: string;
  readonly param?: string;
  readonly extra?: Json;
}

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly param?: unknown;
  readonly type?: unknown;
  readonly user_message?: unknown;
  readonly doc_url?: unknown;
  readonly [extra: string]: unknown;
}

export function assertRefused(answer: HttpAnswer, expected: Refusal): void {
  const { code, ex = '', param, type, extra = {} } = expected;
  const { error } = JSON.parse(answer.text) as { error: ErrorBody };
  assert.ok(error, answer.text);
  assert.equal(error.code, code, answer.text);
  assert.equal(answer.status, expected.status ?? 400, answer.text);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.match(String(answer.headers['request-id']), /^req_[0-9A-Za-z]{14}$/);
  assertMessage(error.message, param);
  assert.equal(error.param, param, answer.text);
  assert.equal(error.type, type, answer.text);
  assert.equal(typeof error.user_message, ex.includes('U') ? 'string' : 'undefined');
  assert.equal('doc_url' in error, ex.includes('D'), answer.text);
  if (ex.includes('D')) {
    assert.match(String(error.doc_url), new RegExp(`^http://.*/docs/accounts/errors#${code}$`));
  }
  for (const [name, value] of Object.entries(extra)) assert.deepEqual(error[name], value, name);
  const known = ['code', 'message', 'param', 'type', 'user_message', 'doc_url'];
  const others = Object.keys(error).filter((name) => !known.includes(name));
  assert.deepEqual(others.sort(), Object.keys(extra).sort(), answer.text);
}

/** One English sentence that names the field. */
function assertMessage(message: unknown, param: string | undefined): void {
  assert.equal(typeof message, 'string');
  const text = String(message);
  assert.match(text, /^[^\n]+[.!]$/, text);
  assert.doesNotMatch(text, /undefined|null|\[object/, text);
  if (param !== undefined) {
    const field = param.split('.').findLast((part) => !/^\d+$/.test(part)) ?? param;
    assert.ok(text.includes(field), `${text} does not name ${field}`);
  }
}

/** Objects merge, everything else replaces. */
export function deepMerge(base: Json, over: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? deepMerge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `at('a.b', 1)` is `{a: {b: 1}}`. */
export function at(path: string, value: unknown): Json {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Json;
}

/** An account of a company in the United States that takes card payments. */
export const MERCHANT: Json = {
  contact_email: 'furever@example.com',
  display_name: 'Furever',
  identity: { country: 'us', entity_type: 'company' },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
};

export const merchant = (...over: readonly Json[]): Json => over.reduce(deepMerge, MERCHANT);

export const CUSTOMER: Json = { configuration: { customer: {} } };

export const customer = (...over: readonly Json[]): Json => over.reduce(deepMerge, CUSTOMER);

/** A recipient, which may be anything but the owner of a full dashboard. */
export const RECIPIENT: Json = {
  contact_email: 'furever@example.com',
  identity: { country: 'us', entity_type: 'company' },
  configuration: {
    recipient: { capabilities: { bank_accounts: { local: { requested: true } } } },
  },
};

export const recipient = (...over: readonly Json[]): Json => over.reduce(deepMerge, RECIPIENT);

export const responsibilities = (fees: string, losses: string): Json => ({
  defaults: { responsibilities: { fees_collector: fees, losses_collector: losses } },
});

/** The platform collects fees, losses and requirements itself. */
export const SELF_COLLECTED: Json = {
  dashboard: 'none',
  ...responsibilities('application', 'application'),
};
