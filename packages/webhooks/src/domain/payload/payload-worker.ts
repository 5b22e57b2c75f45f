import { parentPort } from 'node:worker_threads';
import { invariant, JsonUnreadable } from '@plinth/kernel';
import type { ReadItem, ReadPayload } from './event-body.js';
import { PAYLOAD_TASKS, type TaskName } from './payload-tasks.js';
import type { TaskReply, TaskRequest } from './payload-thread.js';

// The one file that the thread starts with.
const port = parentPort;
invariant(port !== null, 'this file runs as a worker thread');

port.on('message', ({ id, name, input }: TaskRequest) => {
  const reply = run(id, name, input);
  port.postMessage(reply, 'output' in reply ? buffersOf(reply.output) : []);
});

function run(id: number, name: TaskName, input: unknown): TaskReply {
  try {
    const task = PAYLOAD_TASKS[name] as (input: unknown) => unknown; // the request's own input, as it was sent
    const output = task(input);
    return { id, output: Array.isArray(output) ? packed(output) : output };
  } catch (error) {
    if (error instanceof JsonUnreadable) return { id, unreadable: error.reason };
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Payloads of a batch in one piece of memory: to hand over hundreds of pieces takes longer than to copy them. */
function packed(items: readonly ReadItem[]): readonly ReadItem[] {
  const payloadOf = (item: ReadItem): ReadPayload | undefined =>
    'payload' in item && typeof item.payload === 'object' ? item.payload : undefined;
  const sizeBytes = items.reduce((sum, item) => sum + (payloadOf(item)?.bytes.length ?? 0), 0);
  const all = new Uint8Array(sizeBytes);
  let start = 0;
  return items.map((item) => {
    const payload = payloadOf(item);
    if (payload === undefined) return item;
    const end = start + payload.bytes.length;
    all.set(payload.bytes, start);
    const bytes = all.subarray(start, end);
    start = end;
    return { ...item, payload: { ...payload, bytes } };
  });
}

/** Memory that is handed over with an answer instead of being copied. */
function buffersOf(output: unknown, found: ArrayBuffer[] = []): ArrayBuffer[] {
  if (output instanceof Uint8Array) {
    const { buffer } = output;
    if (buffer instanceof ArrayBuffer && !found.includes(buffer)) found.push(buffer);
  } else if (typeof output === 'object' && output !== null) {
    for (const member of Object.values(output)) buffersOf(member, found);
  }
  return found;
}
