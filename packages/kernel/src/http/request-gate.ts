import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from './principal.js';

/** Stands in front of all services; the limiter implements it. Without one, everything is admitted. */
export interface RequestGate {
  /** Answers the request itself (and returns `false`) when it must not pass. */
  admit(request: FastifyRequest, reply: FastifyReply, principal: Principal): Promise<boolean>;
  finish(request: FastifyRequest, reply: FastifyReply): void;
}
