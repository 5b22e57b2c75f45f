import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { TestResponse } from '@plinth/kernel/testing';
import { errorOf } from './refusal.js';
import { requestOf } from './test-platform.js';
import { type Flags, TestServer } from './test-server.js';

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
  /** Name of a preset key, or the text of another key. Default: `sk_test`. */
  readonly key?: KeyName | (string & {});
  readonly headers?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read members of response bodies in many places.
export type AnyJson = any;

/** A server shared by all tests of a file, with preset keys of `plat_default`. */
export function testAccounts(flags?: Flags): TestAccounts {
  const accounts = new TestAccounts(flags);
  after(async () => await accounts[Symbol.asyncDispose]());
  return accounts;
}

/** Sends requests of an integration with preset keys of `plat_default`. */
export class TestAccounts extends TestServer {
  constructor(flags: Flags = {}, options: { readonly delivers?: boolean } = {}) {
    super({ 'accounts-bootstrap-keys': Object.values(KEYS).join(','), ...flags }, options);
  }

  /** Returns the response, with any status. */
  async call(path: string, call: AccountsCall = {}): Promise<TestResponse> {
    const { key = 'sk_test' } = call;
    const text = Object.hasOwn(KEYS, key) ? KEYS[key as KeyName] : key; // the key exists, as just checked
    return await this.send(path, requestOf(text, call));
  }

  /** Returns the parsed body of a successful response. */
  async ok(path: string, call: AccountsCall = {}): Promise<AnyJson> {
    const { status, text } = await this.call(path, call);
    assert.equal(status, 200, `${path}: ${text}`);
    const body: AnyJson = JSON.parse(text);
    assert.ok(!('error' in body), 'no success has an error member');
    return body;
  }

  /** Returns the `error` member of a refusal with this status and code. */
  async refused(
    path: string,
    call: AccountsCall,
    expected: { readonly status?: number; readonly code: string; readonly param?: string },
  ): Promise<AnyJson> {
    const response = await this.call(path, call);
    const error = errorOf(response, expected);
    if (expected.param !== undefined) assert.equal(error.param, expected.param, response.text);
    return error;
  }

  async create(body: unknown = {}, call: AccountsCall = {}): Promise<AnyJson> {
    return await this.ok('/v2/core/accounts', { ...call, body });
  }

  /** Sends an operator's request that must succeed. `path` follows `/ops/v1/accounts/`. */
  async operate(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<AnyJson> {
    return JSON.parse((await this.ops(method, path, { ...body })).text);
  }

  /** Updates the settings of `plat_default` with a merge patch. */
  async settings(patch: object): Promise<AnyJson> {
    return await this.operate('platforms/plat_default', patch, 'PATCH');
  }

  /** Runs `work` with other settings, then restores the defaults of the patched ones. */
  async withSettings<T>(patch: object, work: () => Promise<T>): Promise<T> {
    await this.settings(patch);
    try {
      return await work();
    } finally {
      await this.settings(Object.fromEntries(Object.keys(patch).map((name) => [name, null])));
    }
  }
}
