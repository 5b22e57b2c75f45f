import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync, type KeyPairSyncResult } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest, HttpResponse } from './http-client.js';
import type { RunningServer } from './running-server.js';

export interface DeliveryItem {
  readonly id: number;
  readonly guid: string;
  readonly delivered_at: string;
  readonly redelivery: boolean;
  readonly duration: number;
  readonly status: string;
  readonly status_code: number;
  readonly event: string;
  readonly action: string | null;
  readonly throttled_at: string | null;
}

const TIMEOUT_MS = 20_000;
const JSON_TYPE = { 'content-type': 'application/json' };
let lastName = 0;
/** Key pair shared by all apps. */
let pair: KeyPairSyncResult<string, string> | undefined;

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Builds a JSON web token by hand, so that every part of it can be wrong. */
export function makeJwt(
  pem: string,
  claims: object,
  header: object = { alg: 'RS256', typ: 'JWT' },
): string {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(pem, 'base64url')}`;
}

export const nowSec = (): number => Math.floor(Date.now() / 1000);

/** A registered app and its view of the server. */
export class WebhookApp {
  readonly id: number;
  readonly clientId: string;
  readonly pem: string;
  readonly #server: RunningServer;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers headers of requests to the operator API. */
  static async register(
    server: RunningServer,
    webhook: object | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<WebhookApp> {
    const name = `app ${process.pid} ${++lastName}`;
    // Generating a pair takes 0.2 s of CPU time, and no test needs two.
    pair ??= generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const response = await server.http.send('/ops/v1/apps', {
      body: JSON.stringify({ name, webhook, public_key: pair.publicKey }),
      headers: { ...JSON_TYPE, ...headers },
    });
    assert.equal(response.status, 201, response.text);
    const made = JSON.parse(response.text) as { id: number; client_id: string };
    return new WebhookApp(server, { ...made, pem: pair.privateKey }, headers);
  }

  private constructor(
    server: RunningServer,
    made: { readonly id: number; readonly client_id: string; readonly pem: string },
    headers: Readonly<Record<string, string>>,
  ) {
    this.#server = server;
    this.#headers = headers;
    this.id = made.id;
    this.clientId = made.client_id;
    this.pem = made.pem;
  }

  /** The same app on another server with the same data. */
  on(server: RunningServer): WebhookApp {
    return new WebhookApp(
      server,
      { id: this.id, client_id: this.clientId, pem: this.pem },
      this.#headers,
    );
  }

  jwt(claims: object = {}): string {
    return makeJwt(this.pem, { iss: this.id, iat: nowSec() - 30, exp: nowSec() + 300, ...claims });
  }

  /** Sends a request as the app. */
  async call(path: string, options: HttpRequest = {}): Promise<HttpResponse> {
    return await this.#server.http.send(path, {
      ...options,
      headers: { authorization: `Bearer ${this.jwt()}`, ...options.headers },
    });
  }

  async patch(change: unknown): Promise<HttpResponse> {
    return await this.call('/api/v3/app/hook/config', {
      method: 'PATCH',
      body: typeof change === 'string' ? change : JSON.stringify(change),
      headers: JSON_TYPE,
    });
  }

  /** Sends a request as the operator. */
  async operate(method: string, path: string, body?: unknown): Promise<HttpResponse> {
    return await this.#server.http.send(`/ops/v1/apps/${this.id}${path}`, {
      method,
      headers: { ...JSON_TYPE, ...this.#headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Publishes only to this app; returns the event's GUID. */
  async publish(event: string, more: object = {}): Promise<string> {
    const response = await this.#server.http.send('/ops/v1/events', {
      body: JSON.stringify({ event, payload: {}, app_id: this.id, ...more }),
      headers: { ...JSON_TYPE, ...this.#headers },
    });
    assert.equal(response.status, 202, response.text);
    const { guid, targets } = JSON.parse(response.text) as { guid: string; targets: unknown[] };
    assert.equal(targets.length, 1, response.text);
    return guid;
  }

  async deliveries(query = ''): Promise<readonly DeliveryItem[]> {
    const response = await this.call(`/api/v3/app/hook/deliveries${query}`);
    assert.equal(response.status, 200, response.text);
    return JSON.parse(response.text) as DeliveryItem[];
  }

  /** Resolves when `count` records match `query`; newest first. */
  async untilRecorded(query: string, count: number): Promise<readonly DeliveryItem[]> {
    const endMs = Date.now() + TIMEOUT_MS;
    for (;;) {
      const found = await this.deliveries(query);
      if (found.length >= count) return found;
      if (Date.now() > endMs) throw new Error(`${found.length} of ${count} records for ${query}`);
      await sleep(25);
    }
  }
}
