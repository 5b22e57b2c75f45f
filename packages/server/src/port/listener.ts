import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '@plinth/kernel';
import { refuseConnection, sendClientError } from '../http/to-wire.js';
import { FastReader, type FastReaderDeps } from './fast/fast-reader.js';
import type { HeldPort } from './held-port.js';
import type { Http2Handler } from './http2-side.js';
import { maxConnections, warnOfFewFiles } from './limits/max-connections.js';
import { HEAD_TIMEOUT_MS } from './long-heads.js';
import { nodeTransport } from './node-transport.js';
import { OnePort, type OnePortOptions } from './one-port.js';
import { serveInOrder } from './pipelined-requests.js';
import type { TlsIdentity } from './tls/tls-identity.js';

/** The handlers that the port serves. */
export interface Served extends Omit<FastReaderDeps, 'log'> {
  /** Returns the common headers of responses to unparsable requests, as lines with line ends. */
  headerLines(): string;
  /** GET paths that accept long queries. */
  readonly longQueryPaths: ReadonlySet<string>;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Address and port of the socket: `0.0.0.0:8181` for all addresses of the machine. */
  readonly bound: string;
  /** URL for clients on this machine. */
  readonly url: string;
}

export interface Listener {
  readonly address: ServerAddress;
  /** Sets the certificate of new handshakes. */
  useIdentity(identity: TlsIdentity): void;
  /**
   * Stops accepting connections and lets running requests finish. Closes the rest after `timeoutMs`, or when `force` is aborted.
   * Can be called twice.
   */
  drain(timeoutMs: number, force?: AbortSignal): Promise<void>;
}

/** Listen backlog; the usual 511 overflows when many clients start at the same time. */
const BACKLOG = 4096;

/** The interval at which a drain checks for idle connections, which Node keeps open for further requests. */
const DRAIN_LOOK_MS = 50;

/** From first to last byte of a request: a body of the default limit needs 35 kB/s. */
const REQUEST_TIMEOUT_MS = 300_000;
/** The interval at which Node checks for timed-out connections. */
const CHECKING_INTERVAL_MS = 5_000;
/** Longer than the idle timeout of usual clients and proxies. */
const KEEP_ALIVE_MS = 72_000;
/** Limit of request line and headers. */
const MAX_HEADER_SIZE_BYTES = 65_536;
/** Limit for queries in the URL, as accepted by InfluxDB 1.x and 2.x. */
const MAX_LONG_HEAD_BYTES = 1_048_576 + 4096;
const MAX_LONG_HEADS_BYTES = 64 * 1024 * 1024;

/** Opens the single port for all protocols. */
export async function listen(
  options: Served &
    Pick<OnePortOptions, 'tls' | 'isProxy' | 'limit' | 'refused'> & {
      readonly log: Logger;
      /** Owned by the listener from now on. */
      readonly port: HeldPort;
    },
): Promise<Listener> {
  const { port, clock, tls, isProxy, limit, refused } = options;
  const handler = nodeTransport(options);
  const http1 = makeHttp1(MAX_HEADER_SIZE_BYTES, handler, options);
  const fast = new FastReader(options, http1.keepAliveTimeout);
  const ofBoth = handler as unknown as Http2Handler; // Node's HTTP/2 compatibility API.
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
  warnOfFewFiles(options.log);
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
      requireHostHeader: false, // Checked in the pipeline; Node's own response would lack the common headers.
    },
    handler,
  );
  // Handled by the request pipeline, which refuses it.
  http1.on('checkExpectation', (request, response) => http1.emit('request', request, response));
  http1.on('clientError', (error, socket) => {
    sendClientError(error, socket as Socket, headerLines()); // All our connections are sockets.
  });
  const isAnswering = serveInOrder(http1);
  http1.on('connect', (_request, stream) => {
    const socket = stream as Socket; // All our connections are sockets.
    // An error response would be taken for the response to the previous request.
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
