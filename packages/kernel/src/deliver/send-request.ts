import type { Client, Dispatcher } from 'undici';
import type { InterimResponses } from './interim-responses.js';
import { type Outcome, TransportFailed } from './outcome.js';

/** One request, such as a signed delivery. */
export interface OutgoingRequest {
  /** Default: POST. Only POST has a body. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** In the order and letter case in which they are sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const MAX_HEADER_COUNT = 100;
const MAX_HEADER_SIZE_BYTES = 16_384;

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

export interface SentRequest {
  readonly outcome: Outcome;
  readonly isReusable: boolean;
}

/** Sends one request over a connection. After the signal is aborted, the connection must not be used again. */
export function sendRequest(
  client: Client,
  { method = 'POST', url, headers, body }: OutgoingRequest,
  options: {
    readonly signal: AbortSignal;
    readonly maxBodyBytes: number;
    /** The interim responses of this connection. */
    readonly interim: InterimResponses;
  },
): Promise<SentRequest> {
  return new Promise((resolve, reject) => {
    options.interim.expect();
    const handler = new ResponseReader(resolve, reject, options);
    const onAbort = (): void => {
      handler.cut();
      client.destroy().catch(() => {}); // its result is not needed
    };
    options.signal.addEventListener('abort', onAbort, { once: true });
    handler.onSettled = () => options.signal.removeEventListener('abort', onAbort);
    client.dispatch(
      {
        path: `${url.pathname}${url.search}`,
        method,
        headers: Object.entries(headers).flat(),
        body: method === 'POST' ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : null,
      },
      handler,
    );
  });
}

/** Collects one response. The headers decide the outcome; a failure of the body only truncates it. */
class ResponseReader implements Dispatcher.DispatchHandler {
  onSettled: () => void = () => {};
  readonly #resolve: (sent: SentRequest) => void;
  readonly #reject: (error: unknown) => void;
  readonly #maxBodyBytes: number;
  readonly #interim: InterimResponses;
  readonly #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  /** An informational status that is not a valid interim response. */
  #invalidInterim: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #isSettled = false;

  constructor(
    resolve: (sent: SentRequest) => void,
    reject: (error: unknown) => void,
    options: { readonly maxBodyBytes: number; readonly interim: InterimResponses },
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#maxBodyBytes = options.maxBodyBytes;
    this.#interim = options.interim;
  }

  onRequestStart(): void {}

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      this.#invalidInterim = status;
      return;
    }
    this.#status = status;
    this.#headers = keepHeaders(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const room = this.#maxBodyBytes - this.#sizeBytes;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#sizeBytes += Math.min(chunk.length, room);
    if (chunk.length > room) this.#settle(false);
  }

  onResponseEnd(): void {
    this.#settle(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status > 0) this.#settle(false);
    else this.#fail(error);
  }

  /** Called when the deadline has passed. */
  cut(): void {
    if (this.#status > 0) this.#settle(false);
    else this.#fail(new DeadlinePassed());
  }

  #settle(isComplete: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled();
    const body = Buffer.concat(this.#chunks);
    const outcome: Outcome = {
      kind: 'answered',
      statusCode: this.#status,
      headers: this.#headers,
      body,
      isTruncated: !isComplete,
    };
    // The connection cannot be reused while part of a body is unread.
    this.#resolve({ outcome, isReusable: isComplete });
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.onSettled();
    // The client closes the connection after an upgrade that was not requested.
    const upgrade = error.message === 'bad upgrade' ? 101 : undefined;
    const code = upgrade ?? this.#invalidInterim ?? this.#interim.lastStatus;
    if (code === undefined) this.#reject(error);
    // A valid status has three digits.
    else if (code < 100) this.#reject(new TransportFailed('not_http', error));
    else this.#reject(new TransportFailed('informational_only', error, code));
  }
}

function keepHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const stored = new Map<string, string>();
  let sizeBytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    sizeBytes += name.length + text.length;
    if (stored.size >= MAX_HEADER_COUNT || sizeBytes > MAX_HEADER_SIZE_BYTES) break;
    stored.set(titleCase(name), text);
  }
  return Object.fromEntries([...stored].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const titleCase = (name: string): string =>
  name
    .toLowerCase()
    .replace(
      /(^|-)([a-z])/g,
      (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`,
    );
