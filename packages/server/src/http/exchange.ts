import {
  type ApiConventions,
  type HeaderList,
  type HttpResponse,
  type Pass,
  type RequestSpan,
  withRequestId,
} from '@plinth/kernel';
import type { IncomingRequest } from './incoming-request.js';
import type { FoundRoute } from './router.js';

const NO_HEADERS: HeaderList = [];

/** A request with the pipeline's results so far. */
export class Exchange {
  readonly request: IncomingRequest;
  readonly conventions: ApiConventions;
  /** `undefined` if no route has this path and method. */
  readonly match: FoundRoute | undefined;
  /** Headers of every response: the headers of the API conventions, and the request id. */
  readonly headers: HeaderList;
  #conventionsHeaders: HeaderList;
  readonly startMs: number;
  #pass: Pass | undefined;
  /** `undefined`: not traced. */
  span: RequestSpan | undefined;
  /** `undefined` if the client disconnected before the response. */
  response: HttpResponse | undefined;
  /** Body bytes sent, for bodies of unknown length; for the access log. */
  sentBytes: number | undefined;
  #limits = NO_HEADERS;
  #isClosed = false;
  /** The client is refused, so the rest of the request is not read. */
  isRejected = false;

  constructor(
    request: IncomingRequest,
    options: {
      readonly conventions: ApiConventions;
      /** The API conventions that add headers to the response, if they differ. */
      readonly outerConventions?: ApiConventions | undefined;
      readonly match: FoundRoute | undefined;
      readonly startMs: number;
      readonly onClosed: (exchange: Exchange) => void;
    },
  ) {
    this.request = request;
    this.conventions = options.conventions;
    this.match = options.match;
    this.startMs = options.startMs;
    const conventionsHeaders =
      (options.outerConventions ?? options.conventions).headers?.(request) ?? NO_HEADERS;
    this.headers = withRequestId(conventionsHeaders, request.headers);
    this.#conventionsHeaders = this.headers;
    request.whenClosed(() => {
      this.#isClosed = true;
      this.#pass?.finish();
      options.onClosed(this);
    });
  }

  /** The limiter's pass, released when the client has received the response or disconnected. */
  get pass(): Pass | undefined {
    return this.#pass;
  }

  set pass(pass: Pass | undefined) {
    this.#pass = pass;
    if (this.#isClosed) pass?.finish();
  }

  /** Sets the response, with the rate-limit headers that follow from its status. */
  setResponse(response: HttpResponse): this {
    this.response = this.#varying(this.request.adaptToTransport(response));
    this.#limits = this.#pass?.settle(response.status) ?? NO_HEADERS;
    return this;
  }

  /** Merges `vary` headers: proxies may use only the last of a repeated header. */
  #varying(response: HttpResponse): HttpResponse {
    if (!this.headers.some(isVary)) return response;
    const all = [...this.headers, ...response.headers].filter(isVary);
    if (all.length === 1) return response;
    this.#conventionsHeaders = this.headers.filter((header) => !isVary(header));
    const names = new Set(all.flatMap(([, value]) => value.split(/\s*,\s*/)));
    const others = response.headers.filter((header) => !isVary(header));
    return { ...response, headers: [['vary', [...names].join(', ')], ...others], isReused: false };
  }

  reject(response: HttpResponse): this {
    this.isRejected = true;
    return this.setResponse(response);
  }

  /** Headers that precede the response's own. */
  get outerHeaders(): readonly [conventionsHeaders: HeaderList, limits: HeaderList] {
    return [this.#conventionsHeaders, this.#limits];
  }
}

const isVary = ([name]: HeaderList[number]): boolean => name === 'vary';

/** Returns the body size in bytes; `undefined` if not known in advance. */
export function sizeOf({ status, body, rest, sizeBytes }: HttpResponse): number | undefined {
  if (rest !== undefined) return sizeBytes;
  return body?.length ?? (status === 204 ? 0 : undefined);
}
