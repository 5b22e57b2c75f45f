import type { Principal } from './access/principal.js';
import type { RouteAccess } from './access/route-access.js';
import type { HeaderList, HttpAnswer } from './http-answer.js';
import type { HttpHead } from './http-request.js';

/** How refusals are described. */
export interface DialectRefusals {
  /** Of the schema of their bodies. */
  readonly name: string;
  readonly schema: object;
  /** By status: what any route may answer. */
  readonly shared: Readonly<Record<number, string>>;
}

/** Whom a service recognises, and how it words what no handler answers. */
export interface Dialect {
  /** By which the limiter knows it. */
  readonly service: string;
  /**
   * Where it speaks when no route fits. `/v2/core` covers itself and what follows `/v2/core/`; of several the longest wins. `/`
   * covers itself alone.
   */
  readonly paths: readonly string[];
  /** Whether a request outside of all paths is of a client of its own, by a credential that holds. */
  claims?(request: HttpHead): boolean;
  /** Whether a path exists is told to everybody, before what is wrong with a credential. */
  readonly revealsPaths?: boolean;
  /**
   * Who the request speaks for; `anonymous` is an answer, too. Whatever it throws goes to `answerError`. A request of the hot
   * path should get its principal without a promise.
   * @param access of the route; `undefined`: there is none, which does not show without a credential.
   */
  identify(request: HttpHead, access: RouteAccess | undefined): Principal | Promise<Principal>;
  /** Absent: what is described of its routes has no bodies of refusals. */
  readonly refusals?: DialectRefusals;
  /** Answers what `identify`, checks or handlers throw. */
  answerError(error: unknown, request: HttpHead): HttpAnswer;
  /**
   * Answers a path or method that nobody has.
   * @param allowed methods that the path has, as `Allow` names them; empty: there is no such path.
   */
  answerNotFound(request: HttpHead, allowed: readonly string[]): HttpAnswer;
  /** Headers of every answer, refusals included; the same list each time where it is the same. */
  headers?(request: HttpHead): HeaderList;
  /** Headers of a refusal that the limiter words in the service's place, beside those of the limiter. */
  refusalHeaders?(request: HttpHead): HeaderList;
  /** The body of such a refusal, with what clients of the service look for in one. */
  formatRefusal?(body: object): object;
  /**
   * Answers `OPTIONS`, which needs no credential; without it such requests are recognised and routed.
   * @param methods that the path has; empty: there is no such path.
   * @returns `undefined`: not at this path, as a method that it does not have.
   */
  answerPreflight?(request: HttpHead, methods: readonly string[]): HttpAnswer | undefined;
}
