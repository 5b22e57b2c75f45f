import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { constants } from 'node:http2';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '@plinth/kernel';
import { messagePrefix, readMessages } from './grpc-messages.js';
import { encodeStatusMessage, GRPC, type GrpcCode, GrpcFailure } from './grpc-status.js';
import { parseGrpcTimeout } from './grpc-timeout.js';

const GRPC_CONTENT_TYPE = 'application/grpc';

const ENCODINGS = ['identity', 'gzip'];

/**
 * A client that reads nothing for this long is treated as disconnected, because its query pins
 * files.
 */
const STALL_MS = 600_000;

/** Maximum wait for the first message of a call. */
const FIRST_MESSAGE_MS = 60_000;

/** A client that does not read the status within this time is disconnected. */
const END_GRACE_MS = 10_000;

/** Maximum delay of a timer; later deadlines are ignored. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;

const gzipInPool = promisify(gzip);

/**
 * The server side of one gRPC call on an HTTP/2 stream. Calls and other requests share the port and
 * may share a connection. Source: gRPC over HTTP/2.
 */
export class GrpcCall {
  readonly #request: Http2ServerRequest;
  readonly #response: Http2ServerResponse;
  readonly #clock: Clock;
  readonly #maxMessageBytes: number;
  readonly #controller = new AbortController();
  /**
   * Responses are compressed only if requests are, because uncompressed ones are faster to encode.
   */
  readonly #isGzip: boolean;
  /** Settles when everything written has been consumed. */
  #taken: Promise<void> = Promise.resolve();
  #isEnded = false;
  /** Start of the current wait for the client. */
  #waitingSinceMs: number | undefined;
  #stallWatch: Disposable | undefined;
  #onFree = (): void => {};

  constructor(options: {
    readonly request: Http2ServerRequest;
    readonly response: Http2ServerResponse;
    readonly clock: Clock;
    readonly maxMessageBytes: number;
  }) {
    this.#request = options.request;
    this.#response = options.response;
    this.#clock = options.clock;
    this.#maxMessageBytes = options.maxMessageBytes;
    const accepted = (this.metadata('grpc-accept-encoding') ?? '').split(',');
    this.#isGzip =
      this.#encoding === 'gzip' && accepted.some((encoding) => encoding.trim() === 'gzip');
    this.#response.once('close', () => {
      this.#stallWatch?.[Symbol.dispose]();
      this.#onFree();
      this.#controller.abort(new GrpcFailure(GRPC.CANCELLED, 'the client disconnected'));
    });
    this.#response.setHeader('content-type', GRPC_CONTENT_TYPE);
    this.#response.setHeader('grpc-accept-encoding', ENCODINGS.join(','));
  }

  /** Aborted when the client disconnects or the deadline passes. The reason is a `GrpcFailure`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs `handle` until it returns, fails or times out, and sends the resulting status. */
  async serve(handle: () => Promise<void>, toFailure: (error: unknown) => GrpcFailure) {
    try {
      this.#startDeadline();
      this.#checkEncoding();
      await handle();
      // The last message may still fail; the status must then not be OK.
      await this.#taken;
      // Rows may end normally although their query was interrupted.
      this.signal.throwIfAborted();
      await this.#end(GRPC.OK, '');
    } catch (error) {
      // A stream error can arrive before the stream's close event.
      const hasGone = this.#response.stream?.destroyed ?? true;
      const reason: unknown = this.signal.aborted
        ? this.signal.reason
        : hasGone
          ? new GrpcFailure(GRPC.CANCELLED, 'the client disconnected')
          : error;
      const failure = reason instanceof GrpcFailure ? reason : toFailure(reason);
      await this.#end(failure.code, failure.message);
    }
  }

  /** Returns a header of the call; repeated headers are joined with commas. */
  metadata(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Returns the values of a header that may be repeated. Values must not contain commas. */
  metadataValues(name: string): readonly string[] {
    return this.metadata(name)?.split(/, ?/) ?? [];
  }

  /** Sets a response header; call it before the first message. */
  setMetadata(name: string, value: string): void {
    this.#response.setHeader(name, value);
  }

  /** Yields the client's messages at the pace of the consumer. */
  async *messages(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* readMessages(this.#request, {
      encoding: this.#encoding,
      maxSizeBytes: this.#maxMessageBytes,
    });
  }

  /** Returns the message of a call with exactly one. */
  async message(): Promise<Uint8Array> {
    const messages = this.messages();
    const timeout = new AbortController();
    const signal = AbortSignal.any([timeout.signal, this.signal]);
    const late = this.#clock.sleep(FIRST_MESSAGE_MS, signal).then(() => {
      throw new GrpcFailure(
        GRPC.DEADLINE_EXCEEDED,
        `no message was received within ${FIRST_MESSAGE_MS / 1000} s`,
      );
    });
    try {
      const first = await Promise.race([messages.next(), late]);
      if (first.done === true)
        throw new GrpcFailure(GRPC.INTERNAL, 'the call ended without a message');
      return first.value;
    } finally {
      timeout.abort();
      late.catch(() => undefined);
    }
  }

  /**
   * Sends a message that consists of `parts`. Resolves when the previous message has been consumed,
   * so one message is sent while the next is encoded.
   * @param onSent called after the last read of the bytes; until then they must not change. Not
   * called if the call ends first.
   */
  async write(parts: readonly Uint8Array[], onSent = (): void => undefined): Promise<void> {
    const before = this.#taken;
    this.#taken = before.then(() => this.#send(parts, onSent));
    // The next write or the end of the call reports the failure.
    this.#taken.catch(() => undefined);
    await before;
  }

  /** Sends the headers before the first message. */
  begin(): void {
    if (this.#isGzip) this.#response.setHeader('grpc-encoding', 'gzip');
    this.#response.writeHead(200);
  }

  get #encoding(): string {
    return this.metadata('grpc-encoding') ?? 'identity';
  }

  async #send(parts: readonly Uint8Array[], onSent: () => void): Promise<void> {
    const pieces = this.#isGzip ? [await gzipInPool(Buffer.concat(parts))] : parts;
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.signal.throwIfAborted();
    if (!this.#response.headersSent) this.begin();
    const { stream } = this.#response;
    stream.cork();
    stream.write(messagePrefix(size, this.#isGzip));
    let isTaken = true;
    // Pieces are sent in order, so the last one is read last.
    pieces.forEach((piece, index) => {
      isTaken = stream.write(piece, (error) => {
        if (index === pieces.length - 1 && !error) onSent();
      });
    });
    stream.uncork();
    if (!isTaken) await this.#drained();
  }

  async #drained(): Promise<void> {
    const { stream } = this.#response;
    if (!stream.writableNeedDrain) return;
    this.#stallWatch ??= this.#clock.every(STALL_MS / 10, () => this.#cutStalled());
    this.#waitingSinceMs = this.#clock.monotonicMs();
    // The stream can also close while it is full; the next write detects that.
    await new Promise<void>((resolve) => {
      this.#onFree = resolve;
      stream.once('drain', resolve);
    });
    this.#waitingSinceMs = undefined;
  }

  #cutStalled(): void {
    const sinceMs = this.#waitingSinceMs;
    if (sinceMs === undefined || this.#clock.monotonicMs() - sinceMs < STALL_MS) return;
    this.#response.stream.close(constants.NGHTTP2_CANCEL);
  }

  #startDeadline(): void {
    const text = this.metadata('grpc-timeout');
    if (text === undefined) return;
    const timeoutMs = parseGrpcTimeout(text);
    if (timeoutMs === undefined) {
      throw new GrpcFailure(GRPC.INVALID_ARGUMENT, `malformed grpc-timeout: ${text}`);
    }
    if (timeoutMs > MAX_DEADLINE_MS) return;
    this.#clock.sleep(timeoutMs, this.signal).then(
      () => this.#controller.abort(new GrpcFailure(GRPC.DEADLINE_EXCEEDED, 'deadline exceeded')),
      () => undefined, // The call ended before the deadline.
    );
  }

  #checkEncoding(): void {
    if (ENCODINGS.includes(this.#encoding)) return;
    const text = `grpc-encoding ${this.#encoding} is not supported`;
    throw new GrpcFailure(GRPC.UNIMPLEMENTED, text);
  }

  async #end(code: GrpcCode, message: string): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const response = this.#response;
    const { stream } = response;
    if (stream === undefined || stream.destroyed || stream.closed) return;
    const status = {
      'grpc-status': String(code),
      ...(message !== '' && { 'grpc-message': encodeStatusMessage(message) }),
    };
    if (response.headersSent) response.addTrailers(status);
    else for (const [name, value] of Object.entries(status)) response.setHeader(name, value);
    response.end();
    const finished = new Promise<void>((resolve) => {
      response.once('close', resolve);
      response.once('finish', resolve);
    });
    const timeout = new AbortController();
    const late = this.#clock.sleep(END_GRACE_MS, timeout.signal).catch(() => undefined);
    await Promise.race([finished, late]);
    timeout.abort();
    // Discards unread client messages, and does not wait for a client that reads nothing.
    if (!stream.destroyed) {
      stream.close(
        response.writableFinished ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL,
      );
    }
  }
}
