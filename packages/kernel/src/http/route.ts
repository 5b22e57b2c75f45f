import type { Dialect } from './dialect.js';
import type { HttpAnswer } from './http-answer.js';
import type { HttpHead, HttpRequest } from './http-request.js';
import type { RouteAccess } from './route-access.js';
import type { RouteCost } from './route-cost.js';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Memory for large bodies. */
export interface BodyMemory {
  /** `undefined`: there is none. */
  take(sizeBytes: number): Buffer | undefined;
  /** A body that was refused or cut is not needed any more; one that reached its handler is given back by that. */
  giveBack(body: Uint8Array): void;
  /** A piece was copied. */
  free(piece: Uint8Array): void;
}

/** How a route takes bodies. */
export interface BodyRule {
  /** As sent and as decoded. */
  readonly maxBytes: number;
  /** What `content-encoding` says is left to the handler. */
  readonly isLeftEncoded?: boolean;
  readonly memory?: BodyMemory;
}

/** One method of one path: all that is said of it anywhere. */
export interface Route {
  readonly method: RouteMethod;
  /** `/things/:id`; `*` at the end takes all that follows. Unreserved characters alone. */
  readonly path: string;
  readonly access: RouteAccess;
  /** What a request costs its caller; the service's own rule unless told otherwise. */
  readonly cost?: RouteCost;
  /** Absent: bodies are not read. */
  readonly body?: BodyRule;
  /** A GET answers HEAD as well, unless this is false. */
  readonly hasHead?: boolean;
  /** What can be refused by the head alone, before the body is read. Throws. */
  check?(request: Omit<HttpRequest, 'body'>): void;
  /** May throw; the dialect words it. At once where it can. */
  handle(request: HttpRequest): HttpAnswer | Promise<HttpAnswer>;
}

/** Routes that speak one dialect. */
export interface RouteTable {
  readonly dialect: Dialect;
  /** Other words for what these routes throw. */
  answerError?(error: unknown, request: HttpHead): HttpAnswer;
  readonly routes: readonly Route[];
}
