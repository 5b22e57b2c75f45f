import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { ConnectionLimit } from './connection-limit.js';
import type { HeldPort } from './held-port.js';
import type { Http2Handler } from './http2-side.js';
import { OnePort, type PortTls } from './one-port.js';
import { serveInTurn } from './pipelined-requests.js';
import type { PlainSide } from './plain-side.js';
import type { TlsIdentity } from './tls-identity.js';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** Where a client on this machine reaches the server. */
  readonly url: string;
}

export interface Listener {
  readonly address: ServerAddress;
  /** There are more plain routes: requests for them that came before are served. */
  plainGrown(): void;
  /** Requests wait for routes that are not there yet. */
  isWaitedFor(): boolean;
  /** All routes are there: requests that came before are served, and others at once. */
  routed(): void;
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

/** More are closed at once, so that file descriptors are left for the disk. */
const MAX_CONNECTION_COUNT = 16_384;

/** Opens the one port for all protocols. What is no plain request waits until `routed` is called. */
export async function listen(
  app: FastifyInstance,
  options: {
    /** Taken over. */
    readonly port: HeldPort;
    readonly clock: Clock;
    /** Makes what answers some requests before the HTTP/1.1 server sees them. */
    readonly plain?: ((keepAliveMs: number) => PlainSide | undefined) | undefined;
    /** Absent: connections are not encrypted. */
    readonly tls?: PortTls | undefined;
    /** Whose connections begin with a header of the PROXY protocol; nobody's unless given. */
    readonly isProxy?: ((address: string) => boolean) | undefined;
    readonly limit: ConnectionLimit;
  },
): Promise<Listener> {
  const { port, clock, tls, isProxy, limit } = options;
  const http1: Server = app.server;
  serveInTurn(http1);
  // The router takes the compatible requests of either version; its type names only the first.
  const handler = app.routing as unknown as Http2Handler;
  const plain = options.plain?.(http1.keepAliveTimeout);
  const onePort = new OnePort({ http1, handler, plain, clock, tls, isProxy, limit });
  http1.maxConnections = MAX_CONNECTION_COUNT;
  http1.listen(port.socket, BACKLOG);
  await once(http1, 'listening');
  let draining: Promise<void> | undefined;
  return {
    address: addressOf(http1, port.host, tls !== undefined),
    plainGrown: () => onePort.plainGrown(),
    isWaitedFor: () => onePort.isWaitedFor,
    routed: () => onePort.routed(),
    useIdentity: (identity) => onePort.useIdentity(identity),
    drain(timeoutMs, force) {
      draining ??= (async () => {
        const closed = new Promise<void>((resolve) => {
          http1.close(() => resolve());
        });
        onePort.closeGracefully();
        using _ = clock.every(DRAIN_LOOK_MS, () => http1.closeIdleConnections());
        const patience = new AbortController();
        const signal = force ? AbortSignal.any([patience.signal, force]) : patience.signal;
        const cut = clock.sleep(timeoutMs, signal).then(
          () => true,
          () => force?.aborted === true,
        );
        const isCut = await Promise.race([closed.then(() => false), cut]);
        patience.abort();
        if (!isCut) return;
        http1.closeAllConnections();
        onePort.destroy();
        await closed;
      })();
      return draining;
    },
  };
}

const UNSPECIFIED: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

function addressOf(server: Server, host: string, isTls: boolean): ServerAddress {
  const { port } = server.address() as AddressInfo; // it listens on a TCP port, not on a pipe
  const reachable = UNSPECIFIED.get(host) ?? host;
  const urlHost = reachable.includes(':') ? `[${reachable}]` : reachable;
  return { host, port, url: `${isTls ? 'https' : 'http'}://${urlHost}:${port}` };
}
