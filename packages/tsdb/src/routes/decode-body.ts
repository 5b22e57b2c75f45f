import { gunzipBounded } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import { EncodingUnacceptable } from './errors.js';

/** Compared exactly, letter case included. */
export function encodingOf(header: string | undefined): 'identity' | 'gzip' {
  if (header === undefined || header === 'identity') return 'identity';
  if (header === 'gzip') return 'gzip';
  throw new EncodingUnacceptable(header);
}

/**
 * Bodies of this scope reach their routes decoded, within `limitBytes` again. Requests without a body may name any
 * encoding. Source: tsdb-http, "Transport", content encoding of requests.
 */
export function installDecoding(app: FastifyInstance, limitBytes: number): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const { body } = request;
    if (!(body instanceof Uint8Array) || body.byteLength === 0) return done();
    if (encodingOf(request.headers['content-encoding']) === 'identity') return done();
    gunzipBounded(body, limitBytes).then((decoded) => {
      request.body = decoded;
      done();
    }, done);
  });
}
