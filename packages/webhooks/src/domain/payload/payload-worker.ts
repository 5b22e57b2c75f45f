import { parentPort } from 'node:worker_threads';
import { invariant, messageOf, requestError } from '@plinth/kernel';
import type { ParsedItem, ParsedPayload } from './event-body.js';
import { PAYLOAD_TASKS, type TaskName } from './payload-tasks.js';
import type { PackedBatch, PackedItem, TaskReply, TaskRequest } from './payload-thread.js';

// Entry file of the worker thread.
const port = parentPort;
invariant(port !== null, 'this module must run in a worker thread');

port.on('message', ({ name, input }: TaskRequest) => {
  const reply = run(name, input);
  const isObject = 'output' in reply && typeof reply.output === 'object' && reply.output !== null;
  port.postMessage(reply, isObject ? buffersOf(reply.output) : []);
});

function run(name: TaskName, input: unknown): TaskReply {
  try {
    const task = PAYLOAD_TASKS[name] as (input: unknown) => unknown; // the task's own input, as the main thread posted it
    const output = task(input);
    return { output: Array.isArray(output) ? packed(output) : output };
  } catch (error) {
    if (requestError.is(error, 'json_unreadable')) return { unreadable: error.details };
    return { failure: messageOf(error) };
  }
}

/**
 * Concatenates the payloads of a batch. Transferring hundreds of buffers takes longer than copying
 * them into one.
 */
function packed(items: readonly ParsedItem[]): PackedBatch {
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

const payloadOf = (item: ParsedItem): ParsedPayload | undefined =>
  'payload' in item && typeof item.payload === 'object' ? item.payload : undefined;

/** Buffers of a result that are transferred instead of copied. */
function buffersOf(output: object): ArrayBuffer[] {
  return Object.values(output).flatMap((member) => {
    const bytes: unknown =
      member instanceof Uint8Array ? member : Reflect.get(Object(member), 'bytes');
    return bytes instanceof Uint8Array && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  });
}
