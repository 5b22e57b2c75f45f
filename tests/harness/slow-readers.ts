import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { encode, jsonTicket } from './flight-client.js';

/** Memory that a process has; Linux only. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const PEAK_INTERVAL_MS = 50;

/** The most memory that a process has while it is watched. */
export class MemoryPeak {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #mb = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), PEAK_INTERVAL_MS);
  }

  /** @returns MB. */
  end(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#mb;
  }

  #look(): void {
    this.#mb = Math.max(this.#mb, residentMb(this.#pid));
  }
}

/** Asks over Flight as bare HTTP/2, and reads nothing by itself: a client's library would read ahead. */
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

/** Reads a stream little by little, as far as it is told. */
export class SlowReader {
  readonly stream: ClientHttp2Stream;
  #goalBytes = 0;
  sizeBytes = 0;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    stream.on('readable', () => this.#read());
  }

  /** So many in all; what arrives in one piece is not cut. */
  readTo(sizeBytes: number): void {
    this.#goalBytes = sizeBytes;
    this.#read();
  }

  get isThere(): boolean {
    return this.sizeBytes >= this.#goalBytes;
  }

  /** How many there are in all. Rejects unless the call ends well. */
  async readToEnd(): Promise<number> {
    this.stream.removeAllListeners('readable');
    this.sizeBytes += (await readToEnd(this.stream)).length;
    return this.sizeBytes;
  }

  #read(): void {
    if (!this.isThere) this.sizeBytes += (this.stream.read() as Buffer | null)?.length ?? 0;
  }
}

/** The rest of a call that ends well. */
export async function readToEnd(stream: ClientHttp2Stream): Promise<Buffer> {
  let status: unknown;
  stream.on('trailers', (trailers) => {
    status = trailers['grpc-status'];
  });
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  assert.equal(status, '0');
  return Buffer.concat(pieces);
}
