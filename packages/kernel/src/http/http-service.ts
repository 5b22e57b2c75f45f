import type { FastifyInstance } from 'fastify';
import type { PlainRoute } from './plain-route.js';
import type { ServiceFront } from './service-front.js';

/** One service on the shared port. `register` runs in a Fastify scope of its own: own parsers, own error handler. */
export interface HttpService {
  readonly name: string;
  readonly front?: ServiceFront;
  /** Health checks, if it answers them in a way of its own: plain routes that are there when `start` has resolved. */
  healthRoutes?(): readonly PlainRoute[];
  /** Those of its routes that are plain, health checks left out; asked once, after `register`. */
  plainRoutes?(): readonly PlainRoute[];
  register(app: FastifyInstance): Promise<void>;
  /**
   * Makes its tables beside those of the other services, so that they can share a commit. `start` may be running, does the same
   * and tells why it failed.
   */
  prepare?(): Promise<void>;
  start(): Promise<void>;
  /** Called once when the port answers: work that makes the first requests faster. Must not throw. */
  warmUp?(): void;
  /** Twice is harmless. */
  close(): Promise<void>;
}
