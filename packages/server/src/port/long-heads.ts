import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '@plinth/kernel';
import { refuseConnection } from '../http/to-wire.js';

const HEAD_END = Buffer.from('\r\n\r\n', 'latin1');
/** Longer than the request line that decides. */
const MAX_PATH_LENGTH = 200;
const FIRST_ROOM_BYTES = 16_384;
/** From the first byte of a request to the last of its head, whoever reads that. */
export const HEAD_TIMEOUT_MS = 15_000;
const LOOK_MS = 1000;

export interface LongHeadsDeps {
  /** For heads of the usual length, for good. */
  readonly usual: (socket: Socket) => void;
  /** Takes one request with a long head. Never listens itself. */
  readonly long: Server;
  /** Of the usual length, of one head, and of all long ones together. */
  readonly usualBytes: number;
  readonly limitBytes: number;
  readonly limitBytesOfAll: number;
  /** Paths of GET that take long queries. */
  readonly paths: ReadonlySet<string>;
  readonly clock: Clock;
  /** Of every answer, as lines with their ends. */
  headerLines(): string;
}

interface Coming {
  readonly sinceMs: number;
  end(code: string): void;
}

/**
 * Collects the heads of queries that stand in the URL before the parser sees them: it copies what it has with each piece that
 * comes, so that a long head in small pieces would cost the square of its length. A connection with a long head ends with its
 * answer. Source: docs/adr/0123-long-urls.md.
 */
export class LongHeads {
  readonly #needs: LongHeadsDeps;
  readonly #coming = new Map<Socket, Coming>();
  readonly #sockets = new Set<Socket>();
  readonly #looking: Disposable;
  #heldBytes = 0;
  #isClosing = false;

  constructor(needs: LongHeadsDeps) {
    this.#needs = needs;
    this.#looking = needs.clock.every(LOOK_MS, () => this.#cutSlow());
  }

  /** Serves a connection whose unread bytes begin with a request that is not whole, or no short one. */
  take(socket: Socket): void {
    const first: Buffer | null = this.#isClosing ? null : socket.read();
    if (first === null || first.includes(HEAD_END) || !this.#isQuery(first)) {
      if (first !== null) socket.unshift(first);
      this.#needs.usual(socket);
      return;
    }
    this.#collect(socket, first);
  }

  /** Nobody waits any longer for heads that are not whole. */
  closeGracefully(): void {
    this.#isClosing = true;
    this.#looking[Symbol.dispose]();
    for (const socket of this.#coming.keys()) socket.destroy();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #isQuery(bytes: Buffer): boolean {
    const line = bytes.toString('latin1', 0, MAX_PATH_LENGTH);
    const [, path] = /^GET (\/[\w/]*)\?/.exec(line) ?? [];
    return path !== undefined && this.#needs.paths.has(path);
  }

  #collect(socket: Socket, first: Buffer): void {
    const { clock, limitBytes, limitBytesOfAll, usualBytes } = this.#needs;
    const head = new GrowingHead(limitBytes);
    let countedBytes = 0;
    const count = (sizeBytes: number): void => {
      this.#heldBytes += sizeBytes - countedBytes;
      countedBytes = sizeBytes;
    };
    const leave = (): void => {
      this.#coming.delete(socket);
      socket.removeListener('readable', onReadable);
      socket.removeListener('end', onEnd);
    };
    const end = (code: string): void => {
      leave();
      count(0);
      refuseConnection(socket, code, this.#needs.headerLines());
    };
    const take = (piece: Buffer): void => {
      const isWhole = head.add(piece);
      if (isWhole === undefined) {
        end('HPE_HEADER_OVERFLOW');
        return;
      }
      const isLong = head.sizeBytes > usualBytes;
      // The parser may take as much once more, of what is sent ahead.
      if (isLong) count(isWhole ? limitBytes : head.roomBytes);
      if (this.#heldBytes > limitBytesOfAll) end('ERR_HEADS_FULL');
      else if (isWhole) {
        leave();
        this.#serve(socket, head.bytes, isLong);
      }
    };
    const onReadable = (): void => {
      while (this.#coming.has(socket)) {
        const piece: Buffer | null = socket.read();
        if (piece === null) return;
        take(piece);
      }
    };
    const onEnd = (): void => {
      socket.destroy();
    };
    this.#coming.set(socket, { sinceMs: clock.monotonicMs(), end });
    this.#sockets.add(socket);
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
    // The URL lives as long as its request, and its connection no longer.
    socket.once('close', () => {
      count(0);
      this.#coming.delete(socket);
      this.#sockets.delete(socket);
    });
    take(first);
    onReadable();
  }

  #serve(socket: Socket, bytes: Buffer, isLong: boolean): void {
    const { usual, long } = this.#needs;
    socket.unshift(bytes);
    if (isLong) {
      long.emit('connection', socket);
      return;
    }
    this.#sockets.delete(socket);
    usual(socket);
  }

  #cutSlow(): void {
    const sinceMs = this.#needs.clock.monotonicMs() - HEAD_TIMEOUT_MS;
    for (const { sinceMs: startMs, end } of this.#coming.values()) {
      // In order of arrival: all others came later.
      if (startMs > sinceMs) return;
      end('ERR_HTTP_REQUEST_TIMEOUT');
    }
  }
}

/** Bytes in one piece of memory that doubles: what comes byte by byte is copied twice, not each time. */
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

  /** @returns whether the head is whole; undefined: it is too long, and the piece was not taken. */
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
