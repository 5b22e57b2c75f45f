import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { TlsIdentity } from './tls-identity.js';

const PROTOCOLS = ['h2', 'http/1.1'];

/** Node's own, which holds for a whole handshake. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Ends TLS on connections that somebody else accepted. */
export class TlsSide {
  readonly #server: Server;

  constructor(
    identity: TlsIdentity,
    to: {
      /** Takes the connection as it is inside; ALPN may have said what it speaks. */
      serve(socket: TLSSocket): void;
      onFailure(address: string | undefined): void;
    },
  ) {
    this.#server = createServer({
      ...identity.options,
      ALPNProtocols: PROTOCOLS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#server.on('secureConnection', (socket) => to.serve(socket));
    // Whoever fails at the handshake has been told so by it, and is cut off.
    this.#server.on('tlsClientError', (_error, socket) => {
      to.onFailure(socket.remoteAddress);
      socket.destroy();
    });
  }

  take(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Later handshakes use this one; connections that are there go on. */
  use(identity: TlsIdentity): void {
    this.#server.setSecureContext(identity.options);
  }
}
