import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

/**
 * What a service decides about requests below its paths before they are routed. A service without a front takes
 * admin tokens and shares the time-series service's dialect.
 */
export interface ServiceFront {
  /**
   * `/v2/core` covers itself and what follows `/v2/core/`, as the path is written (before decoding). Of several
   * the longest wins. `/` covers itself alone.
   */
  readonly paths: readonly string[];
  /**
   * Who the request speaks for; `anonymous` is an answer, too. Whatever it throws goes to `answerError`. A request
   * of the hot path should get its principal without a promise.
   */
  authenticate(request: FastifyRequest): Principal | Promise<Principal>;
  /**
   * Whether the credential was no good although `authenticate` has named somebody: a service may say so only after it has
   * found the path. The gate counts it like one that was refused at once.
   */
  hasWrongCredential?(request: FastifyRequest): boolean;
  /** Answers refused authentication; the service's own error handler answers what its routes throw. */
  answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Answers a path or method that nobody has. */
  answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** Headers that even a refusal carries. */
  setHeaders?(request: FastifyRequest, reply: FastifyReply): void;
  /** Headers of a refusal that the gate sends in the service's place, beside those of the gate. */
  setRefusalHeaders?(request: FastifyRequest, reply: FastifyReply): void;
  /** The body of such a refusal, with what clients of the service look for in one. */
  wordRefusal?(body: object): object;
  /** Answers `OPTIONS`, which needs no credential; without it such requests are authenticated and routed. */
  answerPreflight?(request: FastifyRequest, reply: FastifyReply): FastifyReply;
}
