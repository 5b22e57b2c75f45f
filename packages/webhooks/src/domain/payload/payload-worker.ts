import { parentPort } from 'node:worker_threads';
import { invariant, JsonUnreadable } from '@plinth/kernel';
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
    return { id, output: task(input) };
  } catch (error) {
    if (error instanceof JsonUnreadable) return { id, unreadable: error.reason };
    return { id, failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Memory that is handed over with an answer instead of being copied. */
function buffersOf(output: unknown, found: ArrayBuffer[] = []): ArrayBuffer[] {
  if (output instanceof Uint8Array) {
    const { buffer } = output;
    const isWhole = output.byteLength === buffer.byteLength;
    if (isWhole && buffer instanceof ArrayBuffer && !found.includes(buffer)) found.push(buffer);
  } else if (typeof output === 'object' && output !== null) {
    for (const member of Object.values(output)) buffersOf(member, found);
  }
  return found;
}
