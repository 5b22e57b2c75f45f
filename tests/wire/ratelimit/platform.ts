import assert from 'node:assert/strict';
import { type HttpResponse, type OwnServer, ServerInProcess } from '../../harness/index.js';

const SERVICE = ['--services', 'ratelimit'];

interface PlatformOptions {
  readonly dataDir?: string;
  /** Token of the operator of an earlier server with the same folder. */
  readonly admin?: string;
}

/** A server whose operator registers users and issues their tokens. */
export class Platform<Server extends OwnServer = OwnServer> implements AsyncDisposable {
  readonly server: Server;
  readonly #admin: string;

  static async start(
    flags: readonly string[] = [],
    options: PlatformOptions = {},
  ): Promise<Platform<ServerInProcess>> {
    const server = await ServerInProcess.start({ ...options, flags: [...SERVICE, ...flags] });
    return new Platform(server, options.admin ?? (await firstToken(server)));
  }

  private constructor(server: Server, admin: string) {
    this.server = server;
    this.#admin = admin;
  }

  /** Token of the operator. */
  get admin(): string {
    return this.#admin;
  }

  async send(path: string, authorization?: string, method = 'GET'): Promise<HttpResponse> {
    const headers = authorization === undefined ? {} : { authorization };
    return await this.server.http.send(path, { method, headers });
  }

  /** Sends an operator request. */
  async ops(method: string, path: string, body?: unknown): Promise<HttpResponse> {
    return await this.opsWithText(method, path, body === undefined ? body : JSON.stringify(body));
  }

  /** Like `ops`, with the body as text. */
  async opsWithText(method: string, path: string, body?: string): Promise<HttpResponse> {
    return await this.server.http.send(`/ops/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#admin}` },
      ...(body !== undefined && { body }),
    });
  }

  async register(identity: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const made = await this.ops('POST', 'identities', identity);
    assert.equal(made.status, 201, made.text);
    return JSON.parse(made.text) as Record<string, unknown>;
  }

  /** Value of an `Authorization` header. */
  async token(credential: Readonly<Record<string, unknown>>): Promise<string> {
    const made = await this.ops('POST', 'credentials', credential);
    assert.equal(made.status, 201, made.text);
    return `Bearer ${text(JSON.parse(made.text), 'token')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

async function firstToken({ http }: OwnServer): Promise<string> {
  const made = await http.send('/api/v3/configure/token/admin', { method: 'POST' });
  return text(JSON.parse(made.text), 'token');
}

export const PROBE = '/api/v3/meta';

/** The five headers of a bucket in one line. */
export function bucketOf({ headers }: HttpResponse): string {
  const value = (name: string) => String(headers[`x-ratelimit-${name}`]);
  return `${value('resource')} ${value('used')}+${value('remaining')}/${value('limit')}`;
}

export const resetOf = ({ headers }: HttpResponse): number => Number(headers['x-ratelimit-reset']);

/** Reads a string member of a parsed response. */
export const text = (value: unknown, name: string): string =>
  String(Reflect.get(Object(value), name));

export const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
