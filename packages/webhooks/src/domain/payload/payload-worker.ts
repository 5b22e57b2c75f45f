import { parentPort } from 'node:worker_threads';
import { invariant, messageOf, requestError } from '@plinth/kernel';
import type { ReadItem, ReadPayload } from './event-body.js';
import { PAYLOAD_TASKS, type TaskName } from './payload-tasks.js';
import type { PackedBatch, PackedItem, TaskReply, TaskRequest } from './payload-thread.js';

// The one file that the thread starts with.
const port = parentPort;
invariant(port !== null, 'this file runs as a worker thread');

port.on('message', ({ id, name, input }: TaskRequest) => {
  const reply = run(id, name, input);
  const isObject = 'output' in reply && typeof reply.output === 'object' && reply.output !== null;
  port.postMessage(reply, isObject ? buffersOf(reply.output) : []);
});

function run(id: number, name: TaskName, input: unknown): TaskReply {
  try {
    const task = PAYLOAD_TASKS[name] as (input: unknown) => unknown; // the request's own input, as it was sent
    const output = task(input);
    return { id, output: Array.isArray(output) ? packed(output) : output };
  } catch (error) {
    if (requestError.is(error, 'json_unreadable')) return { id, unreadable: error.details };
    return { id, failure: messageOf(error) };
  }
}

/**
 * Payloads of a batch in one piece of memory, given by where they lie: to hand over hundreds of pieces takes longer than to
 * copy them.
 */
function packed(items: readonly ReadItem[]): PackedBatch {
  let sizeBytes = 0;
  for (const item of items) sizeBytes += payloadOf(item)?.bytes.length ?? 0;
  const all = new Uint8Array(sizeBytes);
  let start = 0;
  const parts = items.map((item): PackedItem => {
    const payload = payloadOf(item);
    if (payload === undefined || !('fields' in item)) return { item };
    const { bytes, ...about } = payload;
    all.set(bytes, start);
    start += bytes.length;
    return { fields: item.fields, unknown: item.unknown, about, end: start };
  });
  return { all, parts };
}

const payloadOf = (item: ReadItem): ReadPayload | undefined =>
  'payload' in item && typeof item.payload === 'object' ? item.payload : undefined;

/** Memory that is handed over with an answer instead of being copied. */
function buffersOf(output: object): ArrayBuffer[] {
  return Object.values(output).flatMap((member) => {
    const bytes: unknown =
      member instanceof Uint8Array ? member : Reflect.get(Object(member), 'bytes');
    return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  });
}
