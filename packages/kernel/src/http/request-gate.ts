import type { Principal } from './access/principal.js';
import type { ApiConventions } from './api-conventions.js';
import type { HttpHead } from './http-request.js';
import type { HeaderList, HttpResponse } from './http-response.js';
import type { Route } from './route.js';

/** Admits requests of the services that it covers, and charges them; implemented by the limiter. Other services have no overhead. */
export interface RequestGate {
  /** Whether it covers the service; called once per service. */
  covers(service: string): boolean;
  /** Called with the routes of a covered service before its first request. */
  registerRoutes(service: string, routes: readonly Route[]): void;
  /** Admits or refuses a request, and charges it. */
  admit(gateRequest: GateRequest): Pass | Refused | Promise<Pass | Refused>;
}

/** The names of the headers that `Pass.settle` returns, for `Access-Control-Expose-Headers`. */
export const LIMIT_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset';

/** A request to be admitted. */
export interface GateRequest {
  readonly request: HttpHead;
  readonly conventions: ApiConventions;
  /** The headers that the API conventions add to every response. */
  readonly headers: HeaderList;
  /** `undefined` without a matching route. */
  readonly route: Route | undefined;
  /** Absent when authentication failed; `authOutcome` has the reason. */
  readonly principal: Principal | undefined;
  /** `authenticated` includes anonymous clients, where the API conventions admit them. */
  readonly authOutcome: 'authenticated' | 'preflight' | 'refusal' | 'uncheckable';
}

/** The accounting of one admitted request. */
export interface Pass {
  /** Called when the body has been read and the handler starts. */
  begin(): void;
  /**
   * Called when the response is ready to be written.
   * @returns the rate limit headers.
   */
  settle(status: number): HeaderList;
  /** Called when the client has received the response or disconnected. Safe to call twice. */
  finish(): void;
}

/** `undefined` closes the connection without a response. */
export interface Refused {
  readonly refusal: HttpResponse | undefined;
}
