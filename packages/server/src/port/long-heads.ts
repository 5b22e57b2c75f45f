import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@plinth/kernel';
import { refuseConnection } from '../http/to-wire.js';

const HEAD_END = Buffer.from('\r\n\r\n', 'latin1');
/** Longer than any path that accepts long queries. */
const MAX_PATH_LENGTH = 200;
const FIRST_ROOM_BYTES = 16_384;
/** Timeout for a request head, for every reader. */
export const HEAD_TIMEOUT_MS = 15_000;
const SWEEP_INTERVAL_MS = 1000;

export interface LongHeadsDeps {
  /** Permanently takes over connections with usual heads. */
  readonly usual: (socket: Socket) => void;
  /** Handles one request with a long head. Does not listen itself. */
  readonly long: Server;
  /** Limits: a usual head, one long head, and all long heads together. */
  readonly usualBytes: number;
  readonly limitBytes: number;
  readonly limitBytesOfAll: number;
  /** GET paths that accept long queries. */
  readonly paths: ReadonlySet<string>;
  readonly clock: Clock;
  /** Returns the common response headers, as lines with line ends. */
  headerLines(): string;
}

interface PendingHead {
  readonly sinceMs: number;
  end(code: string): void;
}

/**
 * Collects heads with long queries in the URL before the parser sees them. Node's parser copies its buffer with each piece, so a
 * long head in small pieces would take quadratic time. A connection with a long head closes after its response.
 * Source: docs/adr/0123-long-urls.md.
 */
export class LongHeads {
  readonly #deps: LongHeadsDeps;
  readonly #pendingHeads = new Map<Socket, PendingHead>();
  readonly #sockets = new Set<Socket>();
  readonly #sweep: Disposable;
  #heldBytes = 0;
  #isClosing = false;

  constructor(deps: LongHeadsDeps) {
    this.#deps = deps;
    this.#sweep = deps.clock.every(SWEEP_INTERVAL_MS, () => this.#cutSlow());
  }

  /** Takes a connection whose unread bytes start with an incomplete or long request. */
  take(socket: Socket): void {
    const first: Buffer | null = this.#isClosing ? null : socket.read();
    if (first === null || first.includes(HEAD_END) || !this.#isQuery(first)) {
      if (first !== null) socket.unshift(first);
      this.#deps.usual(socket);
      return;
    }
    this.#collect(socket, first);
  }

  /** Closes connections with incomplete heads. */
  closeGracefully(): void {
    this.#isClosing = true;
    this.#sweep[Symbol.dispose]();
    for (const socket of this.#pendingHeads.keys()) socket.destroy();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #isQuery(bytes: Buffer): boolean {
    const line = bytes.toString('latin1', 0, MAX_PATH_LENGTH);
    const [, path] = /^GET (\/[\w/]*)\?/.exec(line) ?? [];
    return path !== undefined && this.#deps.paths.has(path);
  }

  #collect(socket: Socket, first: Buffer): void {
    const { clock, limitBytes, limitBytesOfAll, usualBytes } = this.#deps;
    const head = new GrowingHead(limitBytes);
    let countedBytes = 0;
    const count = (sizeBytes: number): void => {
      this.#heldBytes += sizeBytes - countedBytes;
      countedBytes = sizeBytes;
    };
    const leave = (): void => {
      this.#pendingHeads.delete(socket);
      socket.removeListener('readable', onReadable);
      socket.removeListener('end', onEnd);
    };
    const end = (code: string): void => {
      leave();
      count(0);
      refuseConnection(socket, code, this.#deps.headerLines());
    };
    const take = (piece: Buffer): void => {
      const isWhole = head.add(piece);
      if (isWhole === undefined) {
        end('HPE_HEADER_OVERFLOW');
        return;
      }
      const isLong = head.sizeBytes > usualBytes;
      // The parser may buffer the same amount again for pipelined data.
      if (isLong) count(isWhole ? limitBytes : head.roomBytes);
      if (this.#heldBytes > limitBytesOfAll) end('ERR_HEADS_FULL');
      else if (isWhole) {
        leave();
        this.#serve(socket, head.bytes, isLong);
      }
    };
    const onReadable = (): void => {
      while (this.#pendingHeads.has(socket)) {
        const piece: Buffer | null = socket.read();
        if (piece === null) return;
        take(piece);
      }
    };
    const onEnd = (): void => {
      socket.destroy();
    };
    this.#pendingHeads.set(socket, { sinceMs: clock.monotonicMs(), end });
    this.#sockets.add(socket);
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
    // The URL is released with its request, which ends with the connection.
    socket.once('close', () => {
      count(0);
      this.#pendingHeads.delete(socket);
      this.#sockets.delete(socket);
    });
    take(first);
    onReadable();
  }

  #serve(socket: Socket, bytes: Buffer, isLong: boolean): void {
    const { usual, long } = this.#deps;
    socket.unshift(bytes);
    if (isLong) {
      long.emit('connection', socket);
      return;
    }
    this.#sockets.delete(socket);
    usual(socket);
  }

  #cutSlow(): void {
    const sinceMs = this.#deps.clock.monotonicMs() - HEAD_TIMEOUT_MS;
    for (const { sinceMs: startMs, end } of this.#pendingHeads.values()) {
      // Sorted by arrival: all others are later.
      if (startMs > sinceMs) return;
      end('ERR_HTTP_REQUEST_TIMEOUT');
    }
  }
}

/** A buffer that doubles, so that bytes are copied about twice, not with every piece. */
class GrowingHead {
  readonly #limitBytes: number;
  #room = Buffer.allocUnsafe(FIRST_ROOM_BYTES);
  #sizeBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get roomBytes(): number {
    return this.#room.length;
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#sizeBytes);
  }

  /** @returns whether the head is complete; undefined if it is too long (the piece was not added). */
  add(piece: Buffer): boolean | undefined {
    const sizeBytes = this.#sizeBytes + piece.length;
    if (sizeBytes > this.#room.length) {
      if (sizeBytes > this.#limitBytes) return undefined;
      const room = Buffer.allocUnsafe(
        Math.min(this.#limitBytes, Math.max(2 * this.#room.length, sizeBytes)),
      );
      this.#room.copy(room, 0, 0, this.#sizeBytes);
      this.#room = room;
    }
    piece.copy(this.#room, this.#sizeBytes);
    const isWhole =
      this.#room.subarray(0, sizeBytes).indexOf(HEAD_END, Math.max(0, this.#sizeBytes - 3)) >= 0;
    this.#sizeBytes = sizeBytes;
    return isWhole;
  }
}
