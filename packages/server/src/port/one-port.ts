import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '@plinth/kernel';
import { refusePlainText } from '../http/to-wire.js';
import type { ConnectionLimit } from './connection-limit.js';
import type { FastReader } from './fast/fast-reader.js';
import { type FirstBytes, whenDetected } from './first-bytes.js';
import { type Http2Handler, Http2Side } from './http2-side.js';
import { LongHeads, type LongHeadsDeps } from './long-heads.js';
import { type ProxiedClient, speakFor, whenIntroduced } from './proxy-header.js';
import type { RefusedConnections } from './refused-connections.js';
import type { TlsIdentity } from './tls-identity.js';
import { TlsSide } from './tls-side.js';

/** A connection that has not said for so long what it speaks is closed; a handshake counts. */
const FIRST_BYTES_TIMEOUT_MS = 15_000;
const SWEEP_INTERVAL_MS = 5_000;

/** TLS on the port. */
export interface PortTls {
  readonly identity: TlsIdentity;
  /** Connections without TLS are served as well. */
  readonly takesPlainText: boolean;
}

export interface OnePortOptions {
  readonly http1: Server;
  readonly handler: Http2Handler;
  /** Reads short requests before the HTTP/1.1 server sees them. */
  readonly fast: FastReader;
  /** What collects heads that may be longer than the HTTP/1.1 server takes. */
  readonly longHeads: Omit<LongHeadsDeps, 'usual' | 'clock'>;
  readonly clock: Clock;
  /** Absent: connections are not encrypted. */
  readonly tls?: PortTls | undefined;
  /** Whose connections begin with a header of the PROXY protocol; nobody's unless given. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  readonly limit: ConnectionLimit;
  readonly refused: RefusedConnections;
}

/**
 * Makes an HTTP/1.1 server also speak HTTP/2 by prior knowledge, and both under TLS: the first bytes of each connection
 * decide, once. The HTTP/1.1 server keeps listening and counting connections itself, so its limits and its closing stay
 * whole.
 */
export class OnePort {
  readonly #http2: Http2Side;
  readonly #fast: FastReader;
  readonly #longHeads: LongHeads;
  readonly #tls: TlsSide | undefined;
  readonly #takesPlainText: boolean;
  readonly #serveHttp1: readonly ((socket: Socket) => void)[];
  /** Connections that have not said yet what they speak, with the time since which. */
  readonly #silent = new Map<Socket, number>();
  /** Those of them that shake hands, by their other end. */
  readonly #shaking = new Map<string, Socket>();
  /** On whose behalf proxies opened connections. */
  readonly #clients = new WeakMap<Socket, ProxiedClient>();
  readonly #clock: Clock;
  readonly #refused: RefusedConnections;
  readonly #sweep: Disposable;

  constructor(options: OnePortOptions) {
    const { http1, clock, tls, isProxy, limit, refused } = options;
    this.#clock = clock;
    this.#refused = refused;
    this.#fast = options.fast;
    this.#http2 = new Http2Side(options.handler, { clock, keepAliveMs: http1.keepAliveTimeout });
    this.#takesPlainText = tls?.takesPlainText ?? true;
    this.#tls =
      tls &&
      new TlsSide(tls.identity, {
        serve: (socket) => this.#serveInside(socket),
        onFailure: (address) => refused.count('tls_handshake', address),
      });
    // The server's own listeners for its own event, which has one argument.
    this.#serveHttp1 = http1.listeners('connection') as ((socket: Socket) => void)[];
    http1.removeAllListeners('connection');
    this.#longHeads = new LongHeads({
      ...options.longHeads,
      clock,
      usual: (socket) => {
        for (const serve of this.#serveHttp1) Reflect.apply(serve, http1, [socket]);
      },
    });
    http1.on('connection', (socket: Socket) => {
      socket.on('error', goneAnyway);
      if (!limit.admits(socket)) {
        refused.count('address_limit', socket.remoteAddress);
        socket.destroy();
        return;
      }
      this.#silent.set(socket, clock.monotonicMs());
      socket.once('close', () => this.#silent.delete(socket));
      const serve = (): void => whenDetected(socket, (first) => this.#serve(socket, first));
      if (!isProxy?.(socket.remoteAddress ?? '')) {
        serve();
        return;
      }
      const onMalformed = (): void => refused.count('proxy_header', socket.remoteAddress);
      whenIntroduced(socket, onMalformed, (client) => {
        if (client !== undefined) {
          if (!limit.admits(socket, client.address)) {
            refused.count('address_limit', client.address);
            socket.destroy();
            return;
          }
          this.#clients.set(socket, client);
        }
        serve();
      });
    });
    this.#sweep = clock.every(SWEEP_INTERVAL_MS, () => this.#cutSilent());
  }

  /** Later handshakes use this one. Without TLS nothing happens. */
  useIdentity(identity: TlsIdentity): void {
    this.#tls?.use(identity);
  }

  /** Tells clients to go away; running requests end by themselves, connections without a request at once. */
  closeGracefully(): void {
    this.#sweep[Symbol.dispose]();
    for (const socket of this.#silent.keys()) socket.destroy();
    this.#http2.closeGracefully();
    this.#fast.closeGracefully();
    this.#longHeads.closeGracefully();
  }

  destroy(): void {
    this.#http2.destroy();
    this.#fast.destroy();
    this.#longHeads.destroy();
  }

  #serve(socket: Socket, first: FirstBytes): void {
    if (first === 'tls' && this.#tls !== undefined) {
      const other = otherEnd(socket);
      this.#shaking.set(other, socket);
      socket.once('close', () => {
        if (this.#shaking.get(other) === socket) this.#shaking.delete(other);
      });
      // As with Node's own HTTPS: who ends its side, within a handshake above all, is done.
      socket.allowHalfOpen = false;
      this.#tls.take(socket);
    } else if (this.#takesPlainText) {
      this.#silent.delete(socket);
      this.#serveHttp(socket, first, socket);
    } else {
      this.#refused.count('plain_text', socket.remoteAddress);
      if (first === 'http1') refusePlainText(socket);
      else socket.destroy();
    }
  }

  /** A connection after its handshake; until it is told what is inside, its raw one counts as silent. */
  #serveInside(socket: TLSSocket): void {
    socket.on('error', goneAnyway);
    const other = otherEnd(socket);
    const raw = this.#shaking.get(other);
    this.#shaking.delete(other);
    const serve = (first: FirstBytes): void => {
      if (raw !== undefined) this.#silent.delete(raw);
      // Its own HTTP/2 turns clients away that have not asked for it by ALPN, even those that speak it.
      if (first === 'http2') socket.alpnProtocol = 'h2';
      this.#serveHttp(socket, first, raw);
    };
    if (socket.alpnProtocol === 'h2') serve('http2');
    else whenDetected(socket, serve);
  }

  /** @param raw the connection as it was accepted. */
  #serveHttp(socket: Socket, first: FirstBytes, raw: Socket | undefined): void {
    const client = raw && this.#clients.get(raw);
    if (client !== undefined) speakFor(socket, client);
    if (first === 'http2') this.#http2.take(socket);
    else this.#fast.take(socket, () => this.#longHeads.take(socket));
  }

  #cutSilent(): void {
    const sinceMs = this.#clock.monotonicMs() - FIRST_BYTES_TIMEOUT_MS;
    for (const [socket, startMs] of this.#silent) {
      // In order of arrival: all others came later.
      if (startMs > sinceMs) return;
      socket.destroy();
    }
  }
}

/**
 * A connection may be reset at any moment, also while nobody serves it: when it is refused, or between two that serve it.
 * Whoever serves it hears of that by the end of the connection as well.
 */
function goneAnyway(): void {}

/** Names a connection for as long as it is open. */
function otherEnd(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}
