import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { TlsIdentity } from './tls-identity.js';

const PROTOCOLS = ['h2', 'http/1.1'];

/** Node's default, for the complete handshake. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

/** Terminates TLS on connections accepted elsewhere. */
export class TlsSide {
  readonly #server: Server;

  constructor(
    identity: TlsIdentity,
    to: {
      /** Receives the decrypted connection; ALPN may have selected the protocol. */
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
    // The failed handshake has already informed the client.
    this.#server.on('tlsClientError', (_error, socket) => {
      to.onFailure(socket.remoteAddress);
      socket.destroy();
    });
  }

  take(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Sets the certificate of new handshakes; existing connections continue. */
  use(identity: TlsIdentity): void {
    this.#server.setSecureContext(identity.options);
  }
}
