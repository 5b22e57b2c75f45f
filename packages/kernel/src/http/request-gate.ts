import type { Principal } from './access/principal.js';
import type { Dialect } from './dialect.js';
import type { HeaderList, HttpAnswer } from './http-answer.js';
import type { HttpHead } from './http-request.js';
import type { Route } from './route.js';

/** Admits requests of the services that it covers and charges them; the limiter implements it. Others pay nothing for it. */
export interface RequestGate {
  /** Asked once per service. */
  covers(service: string): boolean;
  /** Hears of the routes of a covered service before their first request. */
  announce(service: string, routes: readonly Route[]): void;
  /** Decides and charges. */
  admit(visit: Visit): Pass | Refused | Promise<Pass | Refused>;
}

/** Names of the headers that `Pass.settle` gives, for `Access-Control-Expose-Headers`. */
export const LIMIT_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset';

/** A request that asks to be let in. */
export interface Visit {
  readonly request: HttpHead;
  readonly dialect: Dialect;
  /** What the dialect puts on every answer. */
  readonly headers: HeaderList;
  /** `undefined`: there is none. */
  readonly route: Route | undefined;
  /** Absent: nobody was recognised; then `purpose` says why. */
  readonly principal: Principal | undefined;
  readonly purpose: 'request' | 'preflight' | 'refusal' | 'uncheckable';
}

/** What one admitted request owes. */
export interface Pass {
  /** Its body has been read, and its handler begins. */
  begin(): void;
  /**
   * Its answer is there and about to be written.
   * @returns headers about the limits.
   */
  settle(status: number): HeaderList;
  /** The client has taken the answer, or has left. Twice is harmless. */
  finish(): void;
}

/** `undefined`: nothing is said, the connection ends. */
export interface Refused {
  readonly refusal: HttpAnswer | undefined;
}
