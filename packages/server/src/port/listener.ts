import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '@plinth/kernel';
import { answerClientError, refuseConnection } from '../http/to-wire.js';
import { FastReader, type FastReaderParts } from './fast/fast-reader.js';
import type { HeldPort } from './held-port.js';
import type { Http2Handler } from './http2-side.js';
import { HEAD_TIMEOUT_MS } from './long-heads.js';
import { maxConnections } from './max-connections.js';
import { nodeTransport } from './node-transport.js';
import { OnePort, type OnePortOptions } from './one-port.js';
import { serveInOrder } from './pipelined-requests.js';
import type { TlsIdentity } from './tls-identity.js';

/** What there is to serve on the port. */
export interface Served extends Omit<FastReaderParts, 'log'> {
  /** Of answers to what cannot be parsed, as lines with their ends. */
  headerLines(): string;
  /** Paths of GET that take long queries. */
  readonly longQueryPaths: ReadonlySet<string>;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Address and port of the socket: `0.0.0.0:8181` for all addresses of the machine. */
  readonly bound: string;
  /** Where a client on this machine reaches the server. */
  readonly url: string;
}

export interface Listener {
  readonly address: ServerAddress;
  /** Handshakes from here on use these certificates. */
  useIdentity(identity: TlsIdentity): void;
  /**
   * Takes no more connections, lets running requests end, and after `timeoutMs` (or when `force` is aborted)
   * cuts what is left. Twice is harmless.
   */
  drain(timeoutMs: number, force?: AbortSignal): Promise<void>;
}

/** Accepted connections that wait for the process; the usual 511 overflows when many clients start at once. */
const BACKLOG = 4096;

/** How often a drain looks for connections whose last request was answered; Node itself leaves them open for a next one. */
const DRAIN_LOOK_MS = 50;

/** From the first byte of a request to its last: a body of the usual limit passes at 35 kB/s. */
const REQUEST_TIMEOUT_MS = 300_000;
/** How often connections are looked at whose time is over. */
const CHECKING_INTERVAL_MS = 5_000;
/** Longer than the connections of usual clients and proxies wait. */
const KEEP_ALIVE_MS = 72_000;
/** Request line and headers. */
const MAX_HEADER_SIZE_BYTES = 65_536;
/** Where queries stand in the URL: what InfluxDB 1.x and 2.x take. */
const MAX_LONG_HEAD_BYTES = 1_048_576 + 4096;
const MAX_LONG_HEADS_BYTES = 64 * 1024 * 1024;

/** Opens the one port for all protocols. */
export async function listen(
  options: Served &
    Pick<OnePortOptions, 'tls' | 'isProxy' | 'limit' | 'refused'> & {
      readonly log: Logger;
      /** Taken over. */
      readonly port: HeldPort;
    },
): Promise<Listener> {
  const { port, clock, tls, isProxy, limit, refused } = options;
  const handler = nodeTransport(options);
  const http1 = makeHttp1(MAX_HEADER_SIZE_BYTES, handler, options);
  const fast = new FastReader(options, http1.keepAliveTimeout);
  const ofBoth = handler as unknown as Http2Handler; // Node's compatible requests of version 2
  const longHeads = {
    long: makeHttp1(MAX_LONG_HEAD_BYTES, handler, options),
    usualBytes: MAX_HEADER_SIZE_BYTES,
    limitBytes: MAX_LONG_HEAD_BYTES,
    limitBytesOfAll: MAX_LONG_HEADS_BYTES,
    paths: options.longQueryPaths,
    headerLines: options.headerLines,
  };
  const onePort = new OnePort({
    ...{ http1, handler: ofBoth, fast, longHeads, clock, tls, isProxy, limit, refused },
  });
  http1.maxConnections = maxConnections();
  http1.on('drop', (dropped) => refused.count('server_limit', dropped?.remoteAddress));
  http1.listen(port.socket, BACKLOG);
  await once(http1, 'listening');
  let draining: Promise<void> | undefined;
  return {
    address: addressOf(http1, port.host, tls !== undefined),
    useIdentity: (identity) => onePort.useIdentity(identity),
    drain(timeoutMs, force) {
      draining ??= (async () => {
        const closed = new Promise<void>((resolve) => {
          http1.close(() => resolve());
        });
        onePort.closeGracefully();
        using _ = clock.every(DRAIN_LOOK_MS, () => http1.closeIdleConnections());
        const timeout = new AbortController();
        const signal = force ? AbortSignal.any([timeout.signal, force]) : timeout.signal;
        const cut = clock.sleep(timeoutMs, signal).then(
          () => true,
          () => force?.aborted === true,
        );
        const isCut = await Promise.race([closed.then(() => false), cut]);
        timeout.abort();
        if (!isCut) return;
        http1.closeAllConnections();
        onePort.destroy();
        await closed;
      })();
      return draining;
    },
  };
}

function makeHttp1(
  maxHeaderSize: number,
  handler: RequestListener,
  { headerLines }: Served,
): Server {
  const http1 = createServer(
    {
      maxHeaderSize,
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false, // answered with the headers of every answer, which Node's own refusal lacks
    },
    handler,
  );
  // Goes the way of every request, and is refused there.
  http1.on('checkExpectation', (request, response) => http1.emit('request', request, response));
  http1.on('clientError', (error, socket) => {
    answerClientError(error, socket as Socket, headerLines()); // all of ours are
  });
  const isAnswering = serveInOrder(http1);
  http1.on('connect', (_request, stream) => {
    const socket = stream as Socket; // all of ours are
    // The refusal would be taken for the answer to the request before.
    if (isAnswering(socket)) socket.destroy();
    else refuseConnection(socket, 'ERR_NO_PROXY', headerLines());
  });
  return http1;
}

const UNSPECIFIED: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function addressOf(server: Server, host: string, isTls: boolean): ServerAddress {
  const { address, port } = server.address() as AddressInfo; // it listens on a TCP port, not on a pipe
  const inUrl = (text: string): string => (text.includes(':') ? `[${text}]` : text);
  const reachable = UNSPECIFIED.get(host) ?? host;
  return {
    host,
    port,
    bound: `${inUrl(address)}:${port}`,
    url: `${isTls ? 'https' : 'http'}://${inUrl(reachable)}:${port}`,
  };
}
