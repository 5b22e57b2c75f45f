import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PlainMethod, PlainRequest } from './plain-route.js';
import type { Principal } from './principal.js';
import type { ServiceFront } from './service-front.js';

/**
 * Stands between authentication and routing of the services that it covers; the limiter implements it. Requests of
 * other services pay nothing for it.
 */
export interface RequestGate {
  /** Asked once per service, when the application is put together. */
  covers(service: string): boolean;
  /**
   * Decides and charges. Answers the request itself (and resolves to `false`) when it must not pass. What follows
   * the response (the end of the request, also when the client goes away) is the gate's own business.
   */
  admit(request: FastifyRequest, reply: FastifyReply, visitor: Visitor): boolean | Promise<boolean>;
  /** Adds the hooks that measure handlers to the scope of a covered service. */
  watch(scope: FastifyInstance, service: string): void;
  /**
   * For requests to a route of a watched scope that come without the framework; asked once per route and method, when all
   * are registered. `undefined`: each of them has to come through the framework.
   * @param service the one that speaks for the path.
   */
  plainGate(service: string, method: PlainMethod, path: string): PlainGate | undefined;
}

/** The gate in front of one plain route. */
export interface PlainGate {
  /**
   * Decides at once, and charges a request that may pass what the framework's way would. `undefined`: it is for the
   * framework, which words refusals and can wait for answers; nothing has been charged then.
   */
  admit(visitor: PlainVisitor): PlainPass | undefined;
}

export interface PlainVisitor {
  readonly request: Pick<PlainRequest, 'headers'>;
  readonly principal: Principal;
  /** The connection of the client, or of its proxy. */
  readonly socket: Socket;
}

/** What one admitted request owes. */
export interface PlainPass {
  /**
   * The answer is there and about to be written.
   * @returns headers about the limits, as lines with their ends; they stand behind those of the front.
   */
  answered(): string;
  /** The client has taken the answer, or has left. Twice is harmless. */
  finish(): void;
}

export interface Visitor {
  /** Name of the service whose path it is. */
  readonly service: string;
  /** Absent: nobody was recognised; then `purpose` says why. */
  readonly principal: Principal | undefined;
  readonly purpose: 'request' | 'preflight' | 'refusal' | 'uncheckable';
  /** Of the service whose path it is. */
  readonly front: Pick<ServiceFront, 'hasWrongCredential' | 'setRefusalHeaders' | 'wordRefusal'>;
}

/** What a request to a route costs its caller; routes declare it as `config.rateLimit`. */
export interface RouteCost {
  /** Bucket of the primary limit; the service's own unless told otherwise. */
  readonly resource?: string;
  /** Of the primary limit; 1 unless told otherwise, 0 counts nothing. */
  readonly cost?: number;
  /** Of the limit per endpoint and minute; by method unless told otherwise. */
  readonly points?: number;
  /** The request creates content that others see. */
  readonly content?: boolean;
  /** A lower limit of content for this endpoint alone. */
  readonly contentPerMinute?: number;
  /** Weight of a compute-heavy request. */
  readonly heavy?: number;
  /** A query of a graph API; `mutation` makes it a change. */
  readonly graph?: boolean | { readonly mutation: boolean };
  /** Nothing is counted or checked. */
  readonly exempt?: boolean;
  /** Name under which points are counted; the route's template unless told otherwise. */
  readonly endpoint?: string;
  /** The answer streams without end: its slot is given back when the headers are written. */
  readonly longLived?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly rateLimit?: RouteCost;
  }
}
