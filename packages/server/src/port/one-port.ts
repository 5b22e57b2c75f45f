import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '@plinth/kernel';
import { refusePlainText } from '../http/to-wire.js';
import type { FastReader } from './fast/fast-reader.js';
import { type FirstBytes, whenDetected } from './first-bytes.js';
import { type Http2Handler, Http2Side } from './http2-side.js';
import type { ConnectionLimit } from './limits/connection-limit.js';
import type { RefusedConnections } from './limits/refused-connections.js';
import { LongHeads, type LongHeadsDeps } from './long-heads.js';
import { type ProxiedClient, setPeerAddress, whenProxyHeaderRead } from './proxy-header.js';
import type { TlsIdentity } from './tls/tls-identity.js';
import { TlsSide } from './tls/tls-side.js';

/** Timeout for detecting the protocol, including the TLS handshake. */
const FIRST_BYTES_TIMEOUT_MS = 15_000;
const SWEEP_INTERVAL_MS = 5_000;

export interface PortTls {
  readonly identity: TlsIdentity;
  /** Whether plaintext connections are also served. */
  readonly takesPlainText: boolean;
}

export interface OnePortOptions {
  readonly http1: Server;
  readonly handler: Http2Handler;
  /** Reads short requests in place of Node's HTTP/1.1 server. */
  readonly fast: FastReader;
  /** Collects heads longer than Node's HTTP/1.1 server accepts. */
  readonly longHeads: Omit<LongHeadsDeps, 'usual' | 'clock'>;
  readonly clock: Clock;
  /** Absent: no TLS. */
  readonly tls?: PortTls | undefined;
  /** Whether connections from this address start with a PROXY protocol header; if absent, none do. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  readonly limit: ConnectionLimit;
  readonly refused: RefusedConnections;
}

/**
 * Adds HTTP/2 with prior knowledge, and TLS for both versions, to an HTTP/1.1 server. The first bytes of each connection decide.
 * The HTTP/1.1 server still listens and counts connections, so that its limits and shutdown apply.
 */
export class OnePort {
  readonly #http2: Http2Side;
  readonly #fast: FastReader;
  readonly #longHeads: LongHeads;
  readonly #tls: TlsSide | undefined;
  readonly #takesPlainText: boolean;
  readonly #serveHttp1: readonly ((socket: Socket) => void)[];
  /** Connections whose protocol is not known yet, with their start time. */
  readonly #undetected = new Map<Socket, number>();
  /** Connections in a TLS handshake, by remote end. */
  readonly #handshakes = new Map<string, Socket>();
  /** Client addresses reported by proxies. */
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
    // The server's own listeners of its `connection` event, which has one argument.
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
      socket.on('error', ignoreReset);
      if (!limit.admits(socket)) {
        refused.count('address_limit', socket.remoteAddress);
        socket.destroy();
        return;
      }
      this.#undetected.set(socket, clock.monotonicMs());
      socket.once('close', () => this.#undetected.delete(socket));
      const serve = (): void => whenDetected(socket, (first) => this.#serve(socket, first));
      if (!isProxy?.(socket.remoteAddress ?? '')) {
        serve();
        return;
      }
      const onMalformed = (): void => refused.count('proxy_header', socket.remoteAddress);
      whenProxyHeaderRead(socket, onMalformed, (client) => {
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
    this.#sweep = clock.every(SWEEP_INTERVAL_MS, () => this.#closeUndetected());
  }

  /** Sets the certificate of new handshakes; no effect without TLS. */
  useIdentity(identity: TlsIdentity): void {
    this.#tls?.use(identity);
  }

  /** Closes idle connections immediately, and others after their requests. */
  closeGracefully(): void {
    this.#sweep[Symbol.dispose]();
    for (const socket of this.#undetected.keys()) socket.destroy();
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
      this.#handshakes.set(other, socket);
      socket.once('close', () => {
        if (this.#handshakes.get(other) === socket) this.#handshakes.delete(other);
      });
      // As in Node's HTTPS server, a client that closes its side, for example in a handshake, is done.
      socket.allowHalfOpen = false;
      this.#tls.take(socket);
    } else if (this.#takesPlainText) {
      this.#undetected.delete(socket);
      this.#serveHttp(socket, first, socket);
    } else {
      this.#refused.count('plain_text', socket.remoteAddress);
      if (first === 'http1') refusePlainText(socket);
      else socket.destroy();
    }
  }

  /** Serves a connection after its TLS handshake. Its raw connection counts as undetected until then. */
  #serveInside(socket: TLSSocket): void {
    socket.on('error', ignoreReset);
    const other = otherEnd(socket);
    const raw = this.#handshakes.get(other);
    this.#handshakes.delete(other);
    const serve = (first: FirstBytes): void => {
      if (raw !== undefined) this.#undetected.delete(raw);
      // Node's HTTP/2 server refuses clients without ALPN, even if they use HTTP/2.
      if (first === 'http2') socket.alpnProtocol = 'h2';
      this.#serveHttp(socket, first, raw);
    };
    if (socket.alpnProtocol === 'h2') serve('http2');
    else whenDetected(socket, serve);
  }

  /** @param raw the accepted connection. */
  #serveHttp(socket: Socket, first: FirstBytes, raw: Socket | undefined): void {
    const client = raw && this.#clients.get(raw);
    if (client !== undefined) setPeerAddress(socket, client);
    if (first === 'http2') this.#http2.take(socket);
    else this.#fast.take(socket, () => this.#longHeads.take(socket));
  }

  #closeUndetected(): void {
    const sinceMs = this.#clock.monotonicMs() - FIRST_BYTES_TIMEOUT_MS;
    for (const [socket, startMs] of this.#undetected) {
      // Sorted by arrival: all others are later.
      if (startMs > sinceMs) return;
      socket.destroy();
    }
  }
}

/**
 * Error handler for connections without an owner: they can be reset while refused or between two owners. Owners also
 * detect a reset by the close event.
 */
function ignoreReset(): void {}

/** Returns a key for an open connection. */
function otherEnd(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}
