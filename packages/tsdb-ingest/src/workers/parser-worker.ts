import { parentPort, workerData } from 'node:worker_threads';
import { invariant, requestError } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { BodyParser, decodedBody } from '../body-parser.js';
import {
  isShared,
  type ParseJob,
  type ParserMessage,
  type ParserReply,
  type ParserWorkerSettings,
  transferList,
} from './parser-messages.js';
import { SlabAllocator } from './slab-allocator.js';

/**
 * Entry point of a parser thread: decodes and parses one body after another. A bug ends the thread,
 * which the pool detects.
 */
function runParser(): void {
  invariant(parentPort !== null, 'the parser must run in a worker thread');
  const port = parentPort;
  const { limits, hashSeed } = workerData as ParserWorkerSettings; // written only by `ParserThread`
  const parser = new BodyParser(limits, hashSeed);
  const allocator = new SlabAllocator();
  let previous = Promise.resolve();
  port.on('message', (job: ParserMessage) => {
    // Decoding is asynchronous: jobs are chained, so that replies keep their order.
    previous = previous.then(async () => {
      if (job === 'forget') {
        parser.clear();
        return;
      }
      for (const slab of job.slabs) allocator.release(slab);
      const reply = await respond(parser, allocator, job);
      port.postMessage(reply, transferList(reply));
    });
  });
}

async function respond(
  parser: BodyParser,
  allocator: SlabAllocator,
  job: ParseJob,
): Promise<ParserReply> {
  try {
    const body = await decodedBody(job.body, job.options);
    const parsed = parser.parse(body, job.options, allocator);
    const slab = allocator.takeSlab();
    return { kind: 'parsed', parsed, body: isShared(body) ? undefined : body, slab };
  } catch (error) {
    if (tsdbError.is(error, 'body_not_utf8')) {
      return { kind: error.kind, ...error.details };
    }
    if (tsdbError.is(error, 'snappy_corrupt')) return { kind: error.kind, ...error.details };
    if (requestError.is(error, 'body_too_large')) return { kind: error.kind, ...error.details };
    if (requestError.is(error, 'gzip_corrupt')) return { kind: error.kind, cause: causeOf(error) };
    throw error;
  }
}

function causeOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

runParser();
