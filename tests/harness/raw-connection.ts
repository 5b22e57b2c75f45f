import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const READ_TIMEOUT_MS = 30_000;

/** A TCP connection on which a test sends and sees every byte. */
export class RawConnection {
  readonly #socket: Socket;
  #received = '';

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    // A server may also respond by cutting the connection.
    socket.on('error', () => {});
  }

  send(text: string): void {
    this.#socket.write(text, 'latin1');
  }

  /** Ends the sending side; responses are still read. */
  finish(): void {
    this.#socket.end();
  }

  /** Returns all received text as soon as it matches `pattern`. */
  async until(pattern: RegExp): Promise<string> {
    const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
    while (!pattern.test(this.#received)) {
      if (this.#socket.readableEnded) throw new Error(`ended after: ${this.#received}`);
      const round = new AbortController();
      const either = { signal: AbortSignal.any([signal, round.signal]) };
      const waits = ['data', 'end'].map((event) => once(this.#socket, event, either));
      await Promise.race(waits).finally(() => round.abort());
    }
    return this.#received;
  }

  /** Returns all received text after the server has closed the connection. */
  async untilEnd(): Promise<string> {
    if (!this.#socket.readableEnded && !this.#socket.destroyed) {
      await once(this.#socket, 'close', { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    }
    return this.#received;
  }

  close(): void {
    this.#socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
