import {
  type Dialect,
  type HeaderList,
  type HttpAnswer,
  type Pass,
  type RequestSpan,
  withRequestId,
} from '@plinth/kernel';
import type { IncomingRequest } from './incoming-request.js';
import type { FoundRoute } from './router.js';

const NO_HEADERS: HeaderList = [];

/** One request, and what the pipeline has found out about it so far. */
export class Exchange {
  readonly request: IncomingRequest;
  readonly dialect: Dialect;
  /** `undefined`: nobody has the path, or not with this method. */
  readonly found: FoundRoute | undefined;
  /** What every answer has: of the dialect, and the id that the request was given. */
  readonly headers: HeaderList;
  #said: HeaderList;
  readonly startMs: number;
  #pass: Pass | undefined;
  /** `undefined`: it is not traced. */
  span: RequestSpan | undefined;
  /** `undefined` when the client left before there was one. */
  answer: HttpAnswer | undefined;
  /** Of a body whose length is known only at its end; counted for the access log. */
  sentBytes: number | undefined;
  #limits = NO_HEADERS;
  #isGone = false;
  /** The answer turns the client away: what it still sends is not waited for. */
  isTurnedAway = false;

  constructor(
    request: IncomingRequest,
    at: {
      readonly dialect: Dialect;
      /** Who puts headers on the answer, if it is another one. */
      readonly speaker?: Dialect | undefined;
      readonly found: FoundRoute | undefined;
      readonly startMs: number;
      readonly onGone: (exchange: Exchange) => void;
    },
  ) {
    this.request = request;
    this.dialect = at.dialect;
    this.found = at.found;
    this.startMs = at.startMs;
    const said = (at.speaker ?? at.dialect).headers?.(request) ?? NO_HEADERS;
    this.headers = withRequestId(said, request.headers);
    this.#said = this.headers;
    request.whenGone(() => {
      this.#isGone = true;
      this.#pass?.finish();
      at.onGone(this);
    });
  }

  /** What the limiter gave; given back when the client has its answer, or has left. */
  get pass(): Pass | undefined {
    return this.#pass;
  }

  set pass(pass: Pass | undefined) {
    this.#pass = pass;
    if (this.#isGone) pass?.finish();
  }

  settle(answer: HttpAnswer): this {
    this.answer = this.#varying(this.request.dress(answer));
    this.#limits = this.#pass?.settle(answer.status) ?? NO_HEADERS;
    return this;
  }

  /** A header that is set twice may have its last value alone: all that an answer depends on is said by one. */
  #varying(answer: HttpAnswer): HttpAnswer {
    if (!this.headers.some(isVary)) return answer;
    const all = [...this.headers, ...answer.headers].filter(isVary);
    if (all.length === 1) return answer;
    this.#said = this.headers.filter((header) => !isVary(header));
    const names = new Set(all.flatMap(([, value]) => value.split(/\s*,\s*/)));
    const others = answer.headers.filter((header) => !isVary(header));
    return { ...answer, headers: [['vary', [...names].join(', ')], ...others], isCacheable: false };
  }

  reject(answer: HttpAnswer): this {
    this.isTurnedAway = true;
    return this.settle(answer);
  }

  /** What stands in front of the answer's own headers. */
  get outerHeaders(): readonly [said: HeaderList, limits: HeaderList] {
    return [this.#said, this.#limits];
  }
}

const isVary = ([name]: HeaderList[number]): boolean => name === 'vary';

/** Of an answer's body; `undefined` where that is not known beforehand. */
export function sizeOf({ status, body, rest, sizeBytes }: HttpAnswer): number | undefined {
  if (rest !== undefined) return sizeBytes;
  return body?.length ?? (status === 204 ? 0 : undefined);
}
