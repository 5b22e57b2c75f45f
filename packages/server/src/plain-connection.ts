import type { Socket } from 'node:net';

export interface PlainConnectionOptions {
  readonly nowMs: number;
  /** What answers `bytes`, one whole request; `undefined`: they are for the HTTP server. */
  readonly read: (bytes: Buffer) => (() => Promise<string | Buffer>) | undefined;
  /** Called once: the connection has ended or was handed over. */
  readonly onLeft: () => void;
  readonly handOver: () => void;
}

/**
 * One connection of the plain side: a request is read only when the one before is answered, so that what a client sends
 * ahead waits in the socket, and the client with it.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #options: PlainConnectionOptions;
  #isBusy = false;
  #isClosing = false;
  /** Whether a request came since the last look at the time. */
  #isActive = true;
  #idleSinceMs: number;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#idleSinceMs = options.nowMs;
  }

  start(): void {
    this.#socket.on('readable', this.#onReadable);
    this.#socket.on('end', this.#onEnd);
    this.#socket.on('error', this.#onError);
    this.#socket.on('close', this.#onClose);
    this.#onReadable();
  }

  /** Ends the connection when it had no request for `maxIdleMs`. */
  noteTime(nowMs: number, maxIdleMs: number): void {
    if (this.#isActive || this.#isBusy) {
      this.#isActive = false;
      this.#idleSinceMs = nowMs;
    } else if (nowMs - this.#idleSinceMs >= maxIdleMs) this.#socket.destroy();
  }

  closeWhenIdle(): void {
    this.#isClosing = true;
    if (!this.#isBusy) this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onReadable = (): void => {
    if (this.#isBusy) return;
    const bytes: Buffer | null = this.#socket.read();
    if (bytes === null) return;
    const answering = this.#options.read(bytes);
    if (answering === undefined) {
      this.#leave(bytes);
      return;
    }
    this.#isBusy = true;
    this.#isActive = true;
    answering().then(this.#send, (error: unknown) => this.#socket.destroy(error as Error));
  };

  readonly #send = (answer: string | Buffer): void => {
    if (this.#socket.destroyed) return;
    const isTaken =
      typeof answer === 'string'
        ? this.#socket.write(answer, 'latin1')
        : this.#socket.write(answer);
    if (this.#isClosing) this.#socket.end();
    else if (isTaken) this.#goOn();
    else this.#socket.once('drain', this.#goOn);
  };

  readonly #goOn = (): void => {
    this.#isBusy = false;
    this.#onReadable();
  };

  /** The client sends nothing more, and may still wait for an answer. */
  readonly #onEnd = (): void => {
    this.#isClosing = true;
    if (!this.#isBusy) this.#socket.end();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#options.onLeft();
  };

  #leave(unread: Buffer): void {
    this.#socket.removeListener('readable', this.#onReadable);
    this.#socket.removeListener('end', this.#onEnd);
    this.#socket.removeListener('error', this.#onError);
    this.#socket.removeListener('close', this.#onClose);
    this.#socket.unshift(unread);
    this.#options.onLeft();
    this.#options.handOver();
  }
}
