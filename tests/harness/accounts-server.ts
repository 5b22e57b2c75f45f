import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { HttpResponse } from './http-client.js';
import type { OwnServer } from './running-server.js';
import { ServerInProcess, type ServerInProcessOptions } from './server-in-process.js';
import { ServerProcess, type ServerProcessOptions } from './server-process.js';

export const KEYS = {
  sk_test: 'sk_test_0123456789abcdefghijABCDEFGH',
  pk_test: 'pk_test_0123456789abcdefghijABCDEFGH',
  sk_live: 'sk_live_0123456789abcdefghijABCDEFGH',
  pk_live: 'pk_live_0123456789abcdefghijABCDEFGH',
} as const;
export type KeyName = keyof typeof KEYS;

export interface AccountsCall {
  readonly method?: string;
  readonly body?: unknown;
  /** Name of a preset key, or the text of another; `null` sends none. By default `sk_test`. */
  readonly key?: KeyName | (string & {}) | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** By default a new key for POST and DELETE; `null` sends none. */
  readonly idempotencyKey?: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: many tests read members of response bodies.
export type Json = any;

/** A server with only the accounts service and four preset keys of `plat_default`. */
export class AccountsServer<Server extends OwnServer = OwnServer> {
  readonly process: Server;

  static async start(
    options: ServerInProcessOptions = {},
  ): Promise<AccountsServer<ServerInProcess>> {
    return new AccountsServer(await ServerInProcess.start(withAccounts(options)));
  }

  /** For tests that kill or suspend a process. */
  static async startProcess(
    options: ServerProcessOptions = {},
  ): Promise<AccountsServer<ServerProcess>> {
    return new AccountsServer(await ServerProcess.start(withAccounts(options)));
  }

  constructor(process: Server) {
    this.process = process;
  }

  /** Returns the raw response with any status. */
  async send(path: string, call: AccountsCall = {}): Promise<HttpResponse> {
    const { body, key = 'sk_test' } = call;
    const method = call.method ?? (body === undefined ? 'GET' : 'POST');
    const isChange = method === 'POST' || method === 'DELETE';
    const idempotencyKey = call.idempotencyKey === undefined ? randomUUID() : call.idempotencyKey;
    const text = key !== null && Object.hasOwn(KEYS, key) ? KEYS[key as KeyName] : key;
    return await this.process.http.send(path, {
      method,
      headers: {
        ...(text !== null && { authorization: `Bearer ${text}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(isChange && idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
        ...call.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** Returns the parsed body of a successful request. */
  async ok(path: string, call: AccountsCall = {}): Promise<Json> {
    const response = await this.send(path, call);
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    const body: Json = JSON.parse(response.text);
    assert.ok(!('error' in body), 'no success has an error member');
    return body;
  }

  /** Returns the `error` of a failed request; asserts its exact status and code. */
  async refused(
    path: string,
    call: AccountsCall,
    expected: { readonly status?: number; readonly code: string; readonly param?: string },
  ): Promise<Json> {
    const response = await this.send(path, call);
    assert.equal(response.headers['content-type'], 'application/json', response.text);
    const { error }: Json = JSON.parse(response.text);
    assert.equal(error?.code, expected.code, response.text);
    assert.equal(response.status, expected.status ?? 400, response.text);
    assert.equal(typeof error.message, 'string');
    assert.match(error.message, /^[^\n]*\S\.?[^\n]*$/);
    if (expected.param !== undefined) assert.equal(error.param, expected.param, response.text);
    return error;
  }

  async create(body: unknown = {}, call: AccountsCall = {}): Promise<Json> {
    return await this.ok('/v2/core/accounts', { ...call, body });
  }

  /** Sends an operator request; the server runs without authentication. */
  async operate(
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Json> {
    const response = await this.process.http.send(`/ops/v1/accounts${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    return JSON.parse(response.text);
  }

  /** Merge-patches the settings of `plat_default`. */
  async settings(patch: unknown): Promise<Json> {
    return await this.operate('/platforms/plat_default', patch, 'PATCH');
  }

  /** Runs `work` with other settings, then restores the defaults of the patched ones. */
  async withSettings<T>(
    patch: Readonly<Record<string, unknown>>,
    work: () => Promise<T>,
  ): Promise<T> {
    await this.settings(patch);
    try {
      return await work();
    } finally {
      const back = Object.fromEntries(Object.keys(patch).map((name) => [name, null]));
      await this.settings(back);
    }
  }

  async close(): Promise<void> {
    await this.process.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const withAccounts = <Options extends ServerInProcessOptions>(options: Options): Options => ({
  ...options,
  flags: ['--without-auth', '--services', 'accounts', ...(options.flags ?? [])],
  env: { PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: Object.values(KEYS).join(','), ...options.env },
});
