import type { Socket } from 'node:net';
import { cutWhenSilent } from '../half-closed.js';
import { waitForDrain } from '../wait-for-drain.js';

const NOTHING = Buffer.alloc(0);

/** A response in the form in which it is sent. */
export type WrittenResponse = {
  readonly start: string | Buffer;
  /** Whether the connection closes after the response. */
  readonly isLast?: boolean;
} & (
  | { readonly rest?: undefined /** Sent together with the head. */; readonly body?: Buffer }
  | {
      /** Sent first, as a separate piece. */
      readonly first?: Buffer | undefined;
      /** Called for each piece that the system has accepted. */
      readonly onPieceWritten?: ((piece: Buffer) => void) | undefined;
      /** The rest of the body, read as the client accepts data. */
      readonly rest: AsyncGenerator<Buffer, void, undefined>;
      /** Whether the pieces use chunked encoding. */
      readonly isChunked: boolean;
    }
);

/** Produces the response to a request. */
export interface FastExchange {
  /** Size of the request. */
  readonly sizeBytes: number;
  /** Returns the response; `undefined` if the connection is closed without one. */
  respond(): Promise<WrittenResponse | undefined>;
  /** Called once, when the client has received the response or disconnected. */
  onClosed(): void;
}

/** The start of the received bytes: a request, part of one (`incomplete`), or data for Node's HTTP server (`undefined`). */
export type ReadResult = FastExchange | 'incomplete' | undefined;

/** For longer requests, Node's parser is only a small part of the cost. */
export const MAX_REQUEST_BYTES = 16 * 1024;
/** Time to wait for the rest of a pipelined request before Node's HTTP server takes over. */
const REST_WAIT_MS = 100;

export interface FastConnectionOptions {
  readonly nowMs: number;
  /** @param disconnectSignal signal that aborts when the client disconnects. */
  readonly read: (bytes: Buffer, disconnectSignal: () => AbortSignal) => ReadResult;
  /** Called when a started response fails while the client is still connected. */
  readonly onResponseFailed: (error: unknown) => void;
  /** Called once, when the connection has ended or was passed to Node's HTTP server. */
  readonly onConnectionClosed: () => void;
  readonly handToNode: () => void;
}

/**
 * A connection of the fast reader. Reads a request only after the response to the previous one, so that pipelined
 * data stays in the socket and applies backpressure to the client. Each request runs in its own event-loop tick, so
 * that other connections are served. A disconnect of a pipelining client is only detected after all its data was
 * read.
 */
export class FastConnection {
  readonly #socket: Socket;
  readonly #options: FastConnectionOptions;
  /** A request is running or waits for its event-loop tick. */
  #isBusy = false;
  /** The next data arrived before the last response was sent. */
  #hasPipelinedData = false;
  /** Bytes received of an incomplete request. */
  #incompleteBytes = 0;
  #restTimer: NodeJS.Timeout | undefined;
  #exchange: FastExchange | undefined;
  /** Controller for the running request, if its handler uses the signal. */
  #disconnect: AbortController | undefined;
  #isClosing = false;
  /** No further request may be processed. Source: RFC 9112, section 9.6. */
  #hasSentClose = false;
  /** The client has closed its sending side. */
  #hasEnded = false;
  /** Whether a request arrived since the last idle check. */
  #isActive = true;
  #idleSinceMs: number;

  constructor(socket: Socket, options: FastConnectionOptions) {
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

  /** Closes the connection if it had no request for `maxIdleMs`. */
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
    if (this.#isBusy) {
      // Reads nothing from an empty socket, but lets it emit the end of the other side.
      if (this.#socket.readableLength === 0) this.#socket.read();
      return;
    }
    if (this.#incompleteBytes > 0 && this.#socket.readableLength === this.#incompleteBytes) return;
    const bytes = this.#readBytes();
    if (bytes === null) return;
    const request = this.#options.read(bytes, this.#signal);
    if (request === 'incomplete' && this.#hasPipelinedData) {
      this.#awaitRest(bytes);
      return;
    }
    if (request === undefined || request === 'incomplete') {
      this.#detach(bytes);
      return;
    }
    this.#clearRestTimer();
    this.#isBusy = true;
    this.#isActive = true;
    if (bytes.length > request.sizeBytes) this.#socket.unshift(bytes.subarray(request.sizeBytes));
    this.#exchange = request;
    request.respond().then(this.#send, this.#fail);
  };

  /** Reads at most one request: a drained socket would continue reading. */
  #readBytes(): Buffer | null {
    const { readableLength } = this.#socket;
    if (readableLength <= MAX_REQUEST_BYTES) return this.#socket.read();
    return this.#socket.read(MAX_REQUEST_BYTES);
  }

  #awaitRest(bytes: Buffer): void {
    this.#incompleteBytes = bytes.length;
    this.#socket.unshift(bytes);
    this.#restTimer ??= setTimeout(this.#passToNode, REST_WAIT_MS).unref();
  }

  /** Passes the connection, with unread data, to Node's HTTP server. */
  readonly #passToNode = (): void => {
    const bytes = this.#socket.destroyed ? null : this.#readBytes();
    if (bytes !== null) this.#detach(bytes);
  };

  #clearRestTimer(): void {
    this.#incompleteBytes = 0;
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
  }

  readonly #signal = (): AbortSignal => {
    if (this.#disconnect === undefined) {
      this.#disconnect = new AbortController();
      // A slow handler can request the signal after the client has disconnected.
      if (this.#socket.destroyed) this.#disconnect.abort();
      else if (this.#hasEnded) cutWhenSilent(this.#socket);
    }
    return this.#disconnect.signal;
  };

  readonly #fail = (error: unknown): void => {
    this.#socket.destroy(error as Error);
  };

  readonly #failResponse = (error: unknown): void => {
    if (!this.#socket.destroyed) this.#options.onResponseFailed(error);
    this.#fail(error);
  };

  readonly #send = (response: WrittenResponse | undefined): void => {
    if (response === undefined) {
      this.#socket.destroy();
      return;
    }
    this.#hasSentClose = response.isLast === true;
    if (response.rest !== undefined) {
      this.#sendPieces(response).then(this.#whenWritten, this.#failResponse);
      return;
    }
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (response.body === undefined) this.#write(response.start);
    else {
      socket.cork();
      this.#write(response.start);
      socket.write(response.body);
      socket.uncork();
    }
    this.#whenWritten();
  };

  /** Data that the system has accepted does not delay the next request. */
  readonly #whenWritten = (): void => {
    const socket = this.#socket;
    const isEnding = this.#isClosing && socket.readableLength === 0;
    if (socket.writableLength === 0 || isEnding) this.#sent();
    else if (socket.writableNeedDrain) socket.once('drain', this.#sent);
    // Small pending data emits no `drain`, but a write reports its completion.
    else socket.write(NOTHING, this.#sent);
  };

  #write(bytes: string | Buffer): boolean {
    return typeof bytes === 'string'
      ? this.#socket.write(bytes, 'latin1')
      : this.#socket.write(bytes);
  }

  async #sendPieces({
    start,
    first,
    rest,
    isChunked,
    onPieceWritten,
  }: Extract<WrittenResponse, { readonly isChunked: boolean }>): Promise<void> {
    const socket = this.#socket;
    // `return` runs when the loop exits, and must be called directly if the loop never started.
    if (socket.destroyed) await rest.return();
    else if (first !== undefined) await this.#sendPiece(first, { isChunked, start });
    else if (!this.#write(start)) await waitForDrain(socket);
    if (first !== undefined && !socket.destroyed && socket.writableLength === 0)
      onPieceWritten?.(first);
    for await (const piece of rest) {
      if (socket.destroyed) break;
      if (piece.length === 0) continue; // An empty chunk would end the body.
      await this.#sendPiece(piece, { isChunked });
      if (socket.destroyed) break;
      // A destroyed or delayed socket may still be reading the piece.
      if (socket.writableLength === 0) onPieceWritten?.(piece);
    }
    if (isChunked && !socket.destroyed) socket.write('0\r\n\r\n', 'latin1');
  }

  /** Resolves when the socket accepts more data. */
  async #sendPiece(
    piece: Buffer,
    { isChunked, start }: { readonly isChunked: boolean; readonly start?: string | Buffer },
  ): Promise<void> {
    const socket = this.#socket;
    socket.cork();
    if (start !== undefined) this.#write(start);
    if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
    socket.write(piece);
    if (isChunked) socket.write('\r\n', 'latin1');
    socket.uncork();
    if (socket.writableNeedDrain) await waitForDrain(socket);
  }

  readonly #sent = (): void => {
    this.#disconnect = undefined;
    if (this.#socket.destroyed) return;
    // Data still pending at the end counts as received when the socket closes.
    if (this.#socket.writableLength === 0) this.#notifyClosed();
    this.#hasPipelinedData = this.#socket.readableLength > 0;
    if (this.#hasPipelinedData) setImmediate(this.#readNext);
    else this.#readNext();
  };

  readonly #readNext = (): void => {
    if (this.#socket.destroyed) return;
    if (this.#hasSentClose || (this.#isClosing && this.#socket.readableLength === 0)) {
      this.#socket.end();
      this.#discardRest();
      return;
    }
    this.#isBusy = false;
    if (this.#isClosing) this.#passToNode();
    else this.#onReadable();
  };

  /** Reads and discards data after the last request, to reach the end of the client's side. */
  #discardRest(): void {
    this.#socket.removeListener('readable', this.#onReadable);
    this.#socket.resume();
  }

  /** The client has closed its sending side, but may still read a response. */
  readonly #onEnd = (): void => {
    this.#isClosing = true;
    this.#hasEnded = true;
    if (!this.#isBusy) this.#socket.end();
    // The handler may run long, and closing the connection is how clients cancel.
    else if (this.#disconnect !== undefined) cutWhenSilent(this.#socket);
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  #notifyClosed(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.onClosed();
  }

  readonly #onClose = (): void => {
    this.#clearRestTimer();
    this.#disconnect?.abort();
    this.#notifyClosed();
    this.#options.onConnectionClosed();
  };

  #detach(unread: Buffer): void {
    this.#clearRestTimer();
    this.#socket.removeListener('readable', this.#onReadable);
    this.#socket.removeListener('end', this.#onEnd);
    this.#socket.removeListener('error', this.#onError);
    this.#socket.removeListener('close', this.#onClose);
    this.#socket.unshift(unread);
    this.#options.onConnectionClosed();
    this.#options.handToNode();
  }
}
