import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { HttpClient } from './http-client.js';
import type { RunningServer } from './running-server.js';
import type { ServerProcessOptions } from './server-process.js';

interface Response {
  readonly url: string;
  readonly adminToken?: string;
  readonly error?: string;
}

/**
 * A server shared with other test files. `scripts/test.mjs` starts one for each set of flags and variables, and stops it
 * after the last file. A file uses its own names of databases, platforms, apps and users, and
 * asserts nothing about server-wide state: lists of all databases, totals, the log.
 */
export class SharedServer implements RunningServer {
  readonly url: string;
  readonly http: HttpClient;
  readonly #adminToken: string | undefined;

  /** Without other flags the server has all services and requires no token. */
  static async get(
    options: Pick<ServerProcessOptions, 'flags' | 'env'> = {},
  ): Promise<SharedServer> {
    const path = process.env['PLINTH_TEST_SERVERS'];
    if (path === undefined) throw new Error('run this file with `npm test -- NAME`');
    const { flags = ['--without-auth'], env = {} } = options;
    const socket = connect(path);
    socket.write(`${JSON.stringify({ flags, env })}\n`);
    const response = (await json(socket)) as Response;
    if (response.error !== undefined) throw new Error(response.error);
    return new SharedServer(response);
  }

  private constructor({ url, adminToken }: Response) {
    this.url = url;
    this.http = new HttpClient(url);
    this.#adminToken = adminToken;
  }

  /** Admin token of a server that requires tokens. */
  get adminToken(): string {
    if (this.#adminToken === undefined) throw new Error('the server requires no token');
    return this.#adminToken;
  }

  /** Closes only the connections of this file. */
  async close(): Promise<void> {
    this.http.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
