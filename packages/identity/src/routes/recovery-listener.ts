import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from '@plinth/kernel';
import { asOutage, faultOfHead, invariant, normalTarget } from '@plinth/kernel';
import { OPERATOR_TOKEN_PATH } from '../domain/access-control.js';
import type { ApiTokens } from '../domain/api-tokens.js';
import type { PageGuard } from '../domain/page-guard.js';
import { toTokenObject } from './schemas.js';
import { isIdentityError, toErrorResponse } from './to-wire.js';

const MAX_CONNECTION_COUNT = 16;
const REQUEST_TIMEOUT_MS = 10_000;

export interface RecoveredToken {
  readonly tokenName: string;
  /** Client address. */
  readonly address: string;
}

/**
 * Listener on a separate port that regenerates a lost admin token once, without a credential. It is
 * as safe as its bind address. It uses TLS if the shared port does. Source: tsdb-http, "Recovery
 * listener".
 */
export class RecoveryListener {
  readonly #tokens: ApiTokens;
  readonly #log: Logger;
  readonly #pages: PageGuard;
  readonly #onRecovered: (recovered: RecoveredToken) => void;
  readonly #server: Server | TlsServer;
  /** True during an attempt, and permanently after a successful one. */
  #isTaken = false;

  constructor(deps: {
    readonly tokens: ApiTokens;
    readonly log: Logger;
    readonly tls: SecureContextOptions | undefined;
    readonly pages: PageGuard;
    readonly onRecovered: (recovered: RecoveredToken) => void;
  }) {
    this.#tokens = deps.tokens;
    this.#log = deps.log;
    this.#pages = deps.pages;
    this.#onRecovered = deps.onRecovered;
    const respond = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#respond(request, response);
    const limits = { requestTimeout: REQUEST_TIMEOUT_MS };
    this.#server =
      deps.tls === undefined
        ? createServer(limits, respond)
        : createTlsServer({ ...limits, ...deps.tls }, respond);
    this.#server.maxConnections = MAX_CONNECTION_COUNT;
  }

  /** @returns the bound address; port 0 selects a free port. */
  async listen(options: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(options.port, options.host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    const address = this.#server.address();
    invariant(
      typeof address === 'object' && address !== null,
      'the recovery server has no address',
    );
    this.#log.warn(
      { host: address.address, port: address.port },
      'admin token recovery is open to every client of this port',
    );
    return address;
  }

  /** Uses these certificates for later handshakes. Has no effect without TLS. */
  useTls(tls: SecureContextOptions): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(tls);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    const isRecovery =
      request.method === 'POST' &&
      normalTarget(request.url ?? '') === `${OPERATOR_TOKEN_PATH}/regenerate`;
    if (!isRecovery || this.#isTaken) {
      send(response, 404, { error: 'Not found', data: {} });
      return;
    }
    const fault = faultOfHead(request);
    if (fault !== undefined) {
      send(response, fault.status, { error: fault.message, data: {} });
      return;
    }
    try {
      this.#pages.refuseForeignPages(request);
    } catch (error) {
      this.#sendFailure(response, error);
      return;
    }
    this.#isTaken = true;
    try {
      const issued = await this.#tokens.regenerateOperator(undefined);
      const tokenName = issued.token.name;
      const address = request.socket.remoteAddress ?? '';
      this.#log.warn({ tokenName, address }, 'admin token recovered');
      this.#onRecovered({ tokenName, address });
      response.once('close', () => void this.close());
      send(response, 201, toTokenObject(issued));
    } catch (error) {
      this.#isTaken = false;
      this.#sendFailure(response, error);
    }
  }

  #sendFailure(response: ServerResponse, error: unknown): void {
    if (isIdentityError(error)) {
      const respond = toErrorResponse(error, OPERATOR_TOKEN_PATH);
      send(response, respond.status, respond.body);
      return;
    }
    const outage = asOutage(error);
    if (outage !== undefined) {
      response.setHeader('retry-after', String(outage.retryAfterSec));
      send(response, 503, { error: outage.message, data: {} });
      return;
    }
    this.#log.error({ err: error }, 'admin token recovery failed');
    send(response, 500, { error: 'internal error', data: {} });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    .end(JSON.stringify(body));
}
