import type { FastifyInstance } from 'fastify';

/** One service on the shared port. `register` runs in a Fastify scope of its own: own parsers, own error handler. */
export interface HttpService {
  readonly name: string;
  register(app: FastifyInstance): Promise<void>;
  start(): Promise<void>;
  /** Twice is harmless. */
  close(): Promise<void>;
}
