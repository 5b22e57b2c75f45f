import type { Dialect, HeaderList, HttpAnswer, Pass } from '@plinth/kernel';
import type { IncomingRequest } from './incoming-request.js';
import type { FoundRoute } from './router.js';

const NO_HEADERS: HeaderList = [];

/** One request, and what the pipeline has found out about it so far. */
export class Exchange {
  readonly request: IncomingRequest;
  readonly dialect: Dialect;
  /** `undefined`: nobody has the path, or not with this method. */
  readonly found: FoundRoute | undefined;
  /** What the dialect puts on every answer. */
  readonly headers: HeaderList;
  readonly startMs: number;
  #pass: Pass | undefined;
  #answer: HttpAnswer | undefined;
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
    this.headers = (at.speaker ?? at.dialect).headers?.(request) ?? NO_HEADERS;
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

  /** `undefined` when the client left before there was one. */
  get answer(): HttpAnswer | undefined {
    return this.#answer;
  }

  settle(answer: HttpAnswer): this {
    this.#answer = this.request.dress(answer);
    this.#limits = this.#pass?.settle(answer.status) ?? NO_HEADERS;
    return this;
  }

  turnAway(answer: HttpAnswer): this {
    this.isTurnedAway = true;
    return this.settle(answer);
  }

  /** What stands in front of the answer's own headers. */
  get outerHeaders(): readonly [said: HeaderList, limits: HeaderList] {
    return [this.headers, this.#limits];
  }
}

/** Of an answer's body; `undefined` where that is not known beforehand. */
export function sizeOf({ status, body, rest, sizeBytes }: HttpAnswer): number | undefined {
  if (rest !== undefined) return sizeBytes;
  return body?.length ?? (status === 204 ? 0 : undefined);
}
