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

/** A client that takes nothing for so long has gone, whatever its connection says: its query holds files. */
const STALL_MS = 600_000;

/** How long a call may be open before its first message is there. */
const FIRST_MESSAGE_MS = 60_000;

/** Who does not take the status within this time after the end is cut off. */
const END_GRACE_MS = 10_000;

/** Timers reach no further; a later deadline is none. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;

const gzipInPool = promisify(gzip);

/**
 * One gRPC call on a stream of HTTP/2, as the server sees it. It is a request like any other on the shared port, so a
 * connection may carry calls and other requests side by side. Source: gRPC over HTTP/2.
 */
export class GrpcCall {
  readonly #request: Http2ServerRequest;
  readonly #response: Http2ServerResponse;
  readonly #clock: Clock;
  readonly #maxMessageBytes: number;
  readonly #controller = new AbortController();
  /** Answers are compressed as requests are: who compresses nothing gets what is faster to make. */
  readonly #isGzip: boolean;
  /** Settles when everything written has been taken. */
  #taken: Promise<void> = Promise.resolve();
  #isEnded = false;
  /** Since when the client takes nothing; made by the first such wait. */
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
      this.#controller.abort(new GrpcFailure(GRPC.CANCELLED, 'the client went away'));
    });
    this.#response.setHeader('content-type', GRPC_CONTENT_TYPE);
    this.#response.setHeader('grpc-accept-encoding', ENCODINGS.join(','));
  }

  /** Aborted when the client goes away or its deadline has passed; the reason is a `GrpcFailure`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs `handle` until it ends, fails or has no more time, and ends the call with what came out. */
  async serve(handle: () => Promise<void>, toFailure: (error: unknown) => GrpcFailure) {
    try {
      this.#startDeadline();
      this.#checkEncoding();
      await handle();
      // The last message may still fail, and an answer that lacks it must not look whole.
      await this.#taken;
      // Rows may also just end when their query is interrupted.
      this.signal.throwIfAborted();
      await this.#end(GRPC.OK, '');
    } catch (error) {
      // The stream's own failure comes before the event that it has closed.
      const hasGone = this.#response.stream?.destroyed ?? true;
      const reason: unknown = this.signal.aborted
        ? this.signal.reason
        : hasGone
          ? new GrpcFailure(GRPC.CANCELLED, 'the client went away')
          : error;
      const failure = reason instanceof GrpcFailure ? reason : toFailure(reason);
      await this.#end(failure.code, failure.message);
    }
  }

  /** A header of the call; several of the same name are one value with commas. */
  metadata(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** The values of a header that may come several times; none of them holds a comma. */
  metadataValues(name: string): readonly string[] {
    return this.metadata(name)?.split(/, ?/) ?? [];
  }

  /** Sets a header of the answer, before the first message. */
  setMetadata(name: string, value: string): void {
    this.#response.setHeader(name, value);
  }

  /** What the client sends, read no faster than it is taken. */
  async *messages(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* readMessages(this.#request, {
      encoding: this.#encoding,
      maxSizeBytes: this.#maxMessageBytes,
    });
  }

  /** The one message of a call that has one. */
  async message(): Promise<Uint8Array> {
    const messages = this.messages();
    const timeout = new AbortController();
    const signal = AbortSignal.any([timeout.signal, this.signal]);
    const late = this.#clock.sleep(FIRST_MESSAGE_MS, signal).then(() => {
      throw new GrpcFailure(GRPC.DEADLINE_EXCEEDED, 'no message came');
    });
    try {
      const first = await Promise.race([messages.next(), late]);
      if (first.done === true) throw new GrpcFailure(GRPC.INTERNAL, 'the call has no message');
      return first.value;
    } finally {
      timeout.abort();
      late.catch(() => undefined);
    }
  }

  /**
   * Sends a message whose bytes are `parts`, one behind the other. Resolves when the message before it has been taken: one is
   * on its way while the next is made.
   * @param onSent called when nobody reads the bytes any more; until then they must not change. Not called when the call ends
   * before.
   */
  async write(parts: readonly Uint8Array[], onSent = (): void => undefined): Promise<void> {
    const before = this.#taken;
    this.#taken = before.then(() => this.#send(parts, onSent));
    // Whoever writes next, or ends the call, sees the failure.
    this.#taken.catch(() => undefined);
    await before;
  }

  /** Sends the headers before there is a message. */
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
    // Pieces are sent in their order, so that the last one is the last that is read.
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
    // The stream may also end while it is full; the next write finds that out.
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
      () => undefined, // The call ended before.
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
    // What the client still sends is read by nobody; a client that takes nothing is not waited for.
    if (!stream.destroyed) {
      stream.close(
        response.writableFinished ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_CANCEL,
      );
    }
  }
}
