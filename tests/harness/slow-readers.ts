import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { encode, jsonTicket } from './flight-client.js';

/** Returns the resident memory of a process in MB; Linux only. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const PEAK_INTERVAL_MS = 50;

/** Peak memory of a process while it is watched. */
export class MemoryPeak {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #mb = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), PEAK_INTERVAL_MS);
  }

  /** @returns the peak in MB. */
  end(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#mb;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#mb = Math.max(this.#mb, residentMb(this.#pid));
  }
}

/** Sends a Flight request over plain HTTP/2 without reading the response, because a client library would read ahead. */
export function askFlight(
  session: ClientHttp2Session,
  fields: { readonly database: string; readonly sql_query: string },
): ClientHttp2Stream {
  const message = encode('Ticket', { ticket: jsonTicket(fields) });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/arrow.flight.protocol.FlightService/DoGet',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.end(Buffer.concat([prefix, message]));
  return stream;
}

/** Sends a request over HTTP/2 without reading the response. */
export function askSlowly(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  return session.request({ ':path': path, ...headers });
}

/** Reads a stream in small pieces, only as far as requested. */
export class SlowReader {
  readonly stream: ClientHttp2Stream;
  #goalBytes = 0;
  readonly #onPiece: ((piece: Buffer) => void) | undefined;
  sizeBytes = 0;

  /** @param onPiece receives everything that is read before `readToEnd`. */
  constructor(stream: ClientHttp2Stream, onPiece?: (piece: Buffer) => void) {
    this.stream = stream;
    this.#onPiece = onPiece;
    stream.on('readable', () => this.#read());
  }

  /** Reads up to this total size; a received chunk is not split. */
  readTo(sizeBytes: number): void {
    this.#goalBytes = sizeBytes;
    this.#read();
  }

  get isThere(): boolean {
    return this.sizeBytes >= this.#goalBytes;
  }

  /** Returns the unread bytes. */
  async rest(): Promise<Buffer> {
    this.stream.removeAllListeners('readable');
    return await restOf(this.stream);
  }

  /** Returns the total number of bytes. Rejects unless the call succeeds. */
  async readToEnd(): Promise<number> {
    this.stream.removeAllListeners('readable');
    this.sizeBytes += (await readToEnd(this.stream)).length;
    return this.sizeBytes;
  }

  #read(): void {
    if (this.isThere) return;
    const piece = this.stream.read() as Buffer | null;
    if (piece === null) return;
    this.sizeBytes += piece.length;
    this.#onPiece?.(piece);
  }
}

/** Returns the remaining bytes of a successful call. */
export async function readToEnd(stream: ClientHttp2Stream): Promise<Buffer> {
  let status: unknown;
  stream.on('trailers', (trailers) => {
    status = trailers['grpc-status'];
  });
  const rest = await restOf(stream);
  assert.equal(status, '0');
  return rest;
}

async function restOf(stream: ClientHttp2Stream): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
