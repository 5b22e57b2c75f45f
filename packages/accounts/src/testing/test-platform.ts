import assert from 'node:assert/strict';
import type { TestRequest, TestResponse } from '@plinth/kernel/testing';

export type Json = Readonly<Record<string, unknown>>;
export type KeyKind = 'secret' | 'publishable';

interface PlatformServer {
  send(url: string, request?: TestRequest): Promise<TestResponse>;
  ops(method: string, path: string, body?: Json): Promise<TestResponse>;
}

export interface CallOptions {
  readonly kind?: KeyKind;
  readonly live?: boolean;
  readonly version?: string;
  readonly idempotencyKey?: string;
  readonly method?: string;
}

/** Returns a request that an integration sends with a key. A text body is sent unchanged. */
export function requestOf(
  key: string,
  call: {
    readonly method?: string | undefined;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly idempotencyKey?: string | null | undefined;
  },
): TestRequest {
  const { body, headers, idempotencyKey = null } = call;
  return {
    method: call.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  };
}

export class TestPlatform {
  readonly id: string;
  readonly #server: PlatformServer;
  readonly #keys = new Map<string, Promise<string>>();

  constructor(server: PlatformServer, id: string) {
    this.#server = server;
    this.id = id;
  }

  async ops(method: string, path: string, body?: Json): Promise<TestResponse> {
    return await this.#server.ops(method, `platforms/${this.id}${path}`, body);
  }

  async key(kind: KeyKind = 'secret', livemode = false): Promise<string> {
    const name = `${kind} ${livemode}`;
    const made = this.#keys.get(name) ?? this.#makeKey(kind, livemode);
    this.#keys.set(name, made);
    return await made;
  }

  /** Sends a request as an integration would; `path` follows `/v2/core/`. */
  async call(path: string, body?: unknown, options: CallOptions = {}): Promise<TestResponse> {
    const { kind, live, version, idempotencyKey, method } = options;
    const headers = version === undefined ? {} : { 'api-version': version };
    const request = requestOf(await this.key(kind, live), {
      method,
      body,
      headers,
      idempotencyKey,
    });
    return await this.#server.send(`/v2/core/${path}`, request);
  }

  /** Sends a request that must succeed and returns the id of the created object. */
  async make(path: string, body: unknown, options: CallOptions = {}): Promise<string> {
    const response = await this.call(path, body, options);
    assert.equal(response.status, 200, `${path}: ${response.text}`);
    return textOf(response, 'id');
  }

  async register(kind: string, body: Json): Promise<string> {
    return textOf(await this.ops('POST', `/${kind}`, body), 'id');
  }

  async state(account: string, patch: Json): Promise<void> {
    await this.ops('PATCH', `/accounts/${account}/state`, patch);
  }

  /** Advances a test clock, which takes two seconds after the response. */
  async advanceClock(id: string, frozenTime: number): Promise<void> {
    const request = requestOf(await this.key(), { body: { frozen_time: frozenTime } });
    const path = `/v1/test_helpers/test_clocks/${id}/advance`;
    const response = await this.#server.send(path, request);
    assert.equal(response.status, 200, response.text);
    assert.equal(textOf(response, 'status'), 'advancing');
  }

  async #makeKey(kind: KeyKind, livemode: boolean): Promise<string> {
    return textOf(await this.ops('POST', '/keys', { kind, livemode }), 'value');
  }
}

export function textOf({ text }: Pick<TestResponse, 'text'>, name: string): string {
  const value: unknown = Reflect.get(Object(JSON.parse(text)), name);
  assert.equal(typeof value, 'string', `${name} of ${text}`);
  return String(value);
}
