import { BodyTooLarge } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import { BodyCut } from './errors.js';

/** What is read and thrown away of a body that is too large, so that the client gets to see the answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
/** Pieces up to this size are handed on although they share the memory of the socket's read. */
const MAX_SHARED_SIZE_BYTES = 16 * 1024;

const EMPTY = Buffer.alloc(0);

/** The request stream of either HTTP version. */
export interface BodyStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'aborted' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** In this scope bodies are Buffers whatever their content type says. */
export function installRawBody(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => {
    readBody(payload, request.headers['content-length'], limitBytes, done);
  });
  app.addHook('onRequest', (request, _reply, done) => {
    // Without a type the framework neither parses it nor refuses one that is malformed: any type is allowed here.
    request.raw.headers['content-type'] = undefined;
    done();
  });
}

/** Collects a body of at most `limitBytes`, copying it at most once. */
export function readBody(
  stream: BodyStream,
  contentLength: string | undefined,
  limitBytes: number,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const expectedBytes = contentLength === undefined ? undefined : Number(contentLength);
  if (expectedBytes !== undefined && expectedBytes > MAX_DISCARDED_BYTES + limitBytes) {
    done(new BodyTooLarge({ limitBytes }));
    return;
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let isDone = false;
  const finish = (error: Error | null, body?: Buffer): void => {
    isDone = true;
    done(error, body);
  };
  // Every request is closed in the end: an error is made only for one that was cut.
  const cut = (): void => {
    if (!isDone) finish(new BodyCut());
  };
  stream.on('data', (chunk) => {
    sizeBytes += chunk.length;
    if (isDone) return;
    if (sizeBytes <= limitBytes) chunks.push(chunk);
    else if (chunks.length > 0) chunks.length = 0;
    if (sizeBytes > limitBytes + MAX_DISCARDED_BYTES) finish(new BodyTooLarge({ limitBytes }));
  });
  stream.on('end', () => {
    if (isDone) return;
    if (sizeBytes > limitBytes) finish(new BodyTooLarge({ limitBytes }));
    else finish(null, join(chunks, sizeBytes));
  });
  stream.on('error', cut);
  stream.on('close', cut);
}

function join(chunks: readonly Buffer[], sizeBytes: number): Buffer {
  const [first] = chunks;
  if (first === undefined) return EMPTY;
  if (chunks.length === 1 && sizeBytes <= MAX_SHARED_SIZE_BYTES) return first;
  // Memory of its own, because larger bodies are handed over to other threads.
  const body = Buffer.allocUnsafeSlow(sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
}
