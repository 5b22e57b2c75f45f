import type { Socket } from 'node:net';
import { cutWhenSilent } from '../half-closed.js';
import { roomIn } from '../room-in.js';

const NOTHING = Buffer.alloc(0);

/** An answer as it goes out. */
export type WrittenAnswer = {
  readonly start: string | Buffer;
  /** It says that the connection ends with it. */
  readonly isLast?: boolean;
} & (
  | { readonly rest?: undefined /** Goes out with the start. */; readonly body?: Buffer }
  | {
      /** Goes out first, as a piece. */
      readonly first?: Buffer | undefined;
      /** Called with each piece that the system has taken. */
      readonly taken?: ((piece: Buffer) => void) | undefined;
      /** What follows, asked for as the client takes it. */
      readonly rest: AsyncGenerator<Buffer, void, undefined>;
      /** With the lengths of its pieces. */
      readonly isChunked: boolean;
    }
);

/** How one request is answered. */
export interface Answering {
  /** Of the request. */
  readonly sizeBytes: number;
  /** `undefined`: nothing is said, the connection ends. */
  answer(): Promise<WrittenAnswer | undefined>;
  /** Called once: the client has taken the whole answer, or is gone. */
  onGone(): void;
}

/** What some bytes begin with: a request, the part of one that has come (`cut`), or what is for the HTTP server. */
export type Asked = Answering | 'cut' | undefined;

/** Of longer requests the server's own parser is a small part of the cost. */
export const MAX_REQUEST_BYTES = 16 * 1024;
/** How long the reader waits for the rest of a request that came cut behind another, before the HTTP server takes it. */
const REST_WAIT_MS = 100;

export interface FastConnectionOptions {
  readonly nowMs: number;
  /** @param leaving whether the client has left, for who has to know it. */
  readonly read: (bytes: Buffer, leaving: () => AbortSignal) => Asked;
  /** Called when an answer that has begun fails, while its client still waits for the rest. */
  readonly onCut: (error: unknown) => void;
  /** Called once: the connection has ended or was handed over. */
  readonly onLeft: () => void;
  readonly handToNode: () => void;
}

/**
 * One connection of the fast reader: a request is read only when the one before is answered, so that what a client sends
 * ahead waits in the socket, and the client with it; each in a turn of the event loop of its own, so that other connections
 * get theirs. Whether a client leaves that has sent ahead shows when all of that is read.
 */
export class FastConnection {
  readonly #socket: Socket;
  readonly #options: FastConnectionOptions;
  /** A request is answered, or has to wait for its turn. */
  #isBusy = false;
  /** What is read next came before the last answer had gone. */
  #isAhead = false;
  /** How much has come of a request whose rest is waited for. */
  #cutBytes = 0;
  #restTimer: NodeJS.Timeout | undefined;
  #answering: Answering | undefined;
  /** Of the answer that is being made, when it asked whether its client leaves. */
  #leaving: AbortController | undefined;
  #isClosing = false;
  /** No request behind the last one may be answered. Source: RFC 9112, section 9.6. */
  #hasSaidClose = false;
  /** The client sends nothing more. */
  #hasEnded = false;
  /** Whether a request came since the last look at the time. */
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
    if (this.#isBusy) {
      // With nothing there it takes nothing, and lets the socket tell that its other side has ended.
      if (this.#socket.readableLength === 0) this.#socket.read();
      return;
    }
    if (this.#cutBytes > 0 && this.#socket.readableLength === this.#cutBytes) return;
    const bytes = this.#take();
    if (bytes === null) return;
    const request = this.#options.read(bytes, this.#signal);
    if (request === 'cut' && this.#isAhead) {
      this.#awaitRest(bytes);
      return;
    }
    if (request === undefined || request === 'cut') {
      this.#leave(bytes);
      return;
    }
    this.#endWait();
    this.#isBusy = true;
    this.#isActive = true;
    if (bytes.length > request.sizeBytes) this.#socket.unshift(bytes.subarray(request.sizeBytes));
    this.#answering = request;
    request.answer().then(this.#send, this.#fail);
  };

  /** No more than one request can be: the socket would read on as often as it is emptied. */
  #take(): Buffer | null {
    const { readableLength } = this.#socket;
    if (readableLength <= MAX_REQUEST_BYTES) return this.#socket.read();
    return this.#socket.read(MAX_REQUEST_BYTES);
  }

  #awaitRest(bytes: Buffer): void {
    this.#cutBytes = bytes.length;
    this.#socket.unshift(bytes);
    this.#restTimer ??= setTimeout(this.#giveUp, REST_WAIT_MS).unref();
  }

  /** Lets the HTTP server go on with what was not answered. */
  readonly #giveUp = (): void => {
    const bytes = this.#socket.destroyed ? null : this.#take();
    if (bytes !== null) this.#leave(bytes);
  };

  #endWait(): void {
    this.#cutBytes = 0;
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
  }

  readonly #signal = (): AbortSignal => {
    if (this.#leaving === undefined) {
      this.#leaving = new AbortController();
      // It may be asked for late, by who found that it takes longer.
      if (this.#socket.destroyed) this.#leaving.abort();
      else if (this.#hasEnded) cutWhenSilent(this.#socket);
    }
    return this.#leaving.signal;
  };

  readonly #fail = (error: unknown): void => {
    this.#socket.destroy(error as Error);
  };

  readonly #cut = (error: unknown): void => {
    if (!this.#socket.destroyed) this.#options.onCut(error);
    this.#fail(error);
  };

  readonly #send = (answer: WrittenAnswer | undefined): void => {
    if (answer === undefined) {
      this.#socket.destroy();
      return;
    }
    this.#hasSaidClose = answer.isLast === true;
    if (answer.rest !== undefined) {
      this.#sendPieces(answer).then(this.#whenTaken, this.#cut);
      return;
    }
    const socket = this.#socket;
    if (socket.destroyed) return;
    if (answer.body === undefined) this.#write(answer.start);
    else {
      socket.cork();
      this.#write(answer.start);
      socket.write(answer.body);
      socket.uncork();
    }
    this.#whenTaken();
  };

  /** What the system has taken is no reason to wait, however much it was. */
  readonly #whenTaken = (): void => {
    const socket = this.#socket;
    const isEnding = this.#isClosing && socket.readableLength === 0;
    if (socket.writableLength === 0 || isEnding) this.#sent();
    else if (socket.writableNeedDrain) socket.once('drain', this.#sent);
    // Of a little that waits no `drain` would come, but a write tells its own end.
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
    taken,
  }: Extract<WrittenAnswer, { readonly isChunked: boolean }>): Promise<void> {
    const socket = this.#socket;
    // Its `return` is called when the loop is left, and may be called by hand when it has not begun.
    if (socket.destroyed) await rest.return();
    else if (first !== undefined) await this.#sendPiece(first, { isChunked, start });
    else if (!this.#write(start)) await roomIn(socket);
    if (first !== undefined && !socket.destroyed && socket.writableLength === 0) taken?.(first);
    for await (const piece of rest) {
      if (socket.destroyed) break;
      if (piece.length === 0) continue; // As a chunk it would be the end.
      await this.#sendPiece(piece, { isChunked });
      if (socket.destroyed) break;
      // What is destroyed, or waits a little longer, may still be read.
      if (socket.writableLength === 0) taken?.(piece);
    }
    if (isChunked && !socket.destroyed) socket.write('0\r\n\r\n', 'latin1');
  }

  /** Resolves when there is room for more. */
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
    if (socket.writableNeedDrain) await roomIn(socket);
  }

  readonly #sent = (): void => {
    this.#leaving = undefined;
    if (this.#socket.destroyed) return;
    // What still goes out while the connection ends is taken when it is closed.
    if (this.#socket.writableLength === 0) this.#gone();
    this.#isAhead = this.#socket.readableLength > 0;
    if (this.#isAhead) setImmediate(this.#goOn);
    else this.#goOn();
  };

  readonly #goOn = (): void => {
    if (this.#socket.destroyed) return;
    if (this.#hasSaidClose || (this.#isClosing && this.#socket.readableLength === 0)) {
      this.#socket.end();
      this.#forgetRest();
      return;
    }
    this.#isBusy = false;
    if (this.#isClosing) this.#giveUp();
    else this.#onReadable();
  };

  /** What was sent behind the last request is read and forgotten: the end of the client's side stands behind it. */
  #forgetRest(): void {
    this.#socket.removeListener('readable', this.#onReadable);
    this.#socket.resume();
  }

  /** The client sends nothing more, and may still wait for an answer. */
  readonly #onEnd = (): void => {
    this.#isClosing = true;
    this.#hasEnded = true;
    if (!this.#isBusy) this.#socket.end();
    // Whoever asked whether the client leaves may work long, and ending a connection is how clients end that.
    else if (this.#leaving !== undefined) cutWhenSilent(this.#socket);
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  #gone(): void {
    const answering = this.#answering;
    this.#answering = undefined;
    answering?.onGone();
  }

  readonly #onClose = (): void => {
    this.#endWait();
    this.#leaving?.abort();
    this.#gone();
    this.#options.onLeft();
  };

  #leave(unread: Buffer): void {
    this.#endWait();
    this.#socket.removeListener('readable', this.#onReadable);
    this.#socket.removeListener('end', this.#onEnd);
    this.#socket.removeListener('error', this.#onError);
    this.#socket.removeListener('close', this.#onClose);
    this.#socket.unshift(unread);
    this.#options.onLeft();
    this.#options.handToNode();
  }
}
