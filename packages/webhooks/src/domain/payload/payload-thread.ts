import { Worker } from 'node:worker_threads';
import { type RequestError, requestError } from '@plinth/kernel';
import type { Fields, ReadItem, ReadPayload } from './event-body.js';
import type { TaskName } from './payload-tasks.js';

export interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

/** The form in which a batch is posted between threads. */
export interface PackedBatch {
  /** All payloads, concatenated. */
  readonly all: Uint8Array<ArrayBuffer>;
  readonly parts: readonly PackedItem[];
}

export type PackedItem =
  | { readonly item: ReadItem }
  | {
      readonly fields: Fields;
      readonly unknown: string | undefined;
      readonly about: Omit<ReadPayload, 'bytes'>;
      /** End offset of the payload, which starts where the previous one ends. */
      readonly end: number;
    };

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly unreadable: RequestError<'json_unreadable'>['details'] }
  | { readonly id: number; readonly failure: string };

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A worker thread that runs one payload task at a time. The first task starts it, as does the next
 * task after a failure.
 */
export class PayloadThread {
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  /** @param handedOver buffers in `input` to transfer; the caller must not use them afterwards. */
  async run(name: TaskName, input: unknown, handedOver: readonly ArrayBuffer[]): Promise<unknown> {
    const worker = this.#worker ?? this.#start();
    this.#lastId += 1;
    const id = this.#lastId;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      const request: TaskRequest = { id, name, input };
      worker.postMessage(request, [...handedOver]);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('./payload-worker.js', import.meta.url), {
      name: 'webhook-payloads',
    });
    worker.on('message', (reply: TaskReply) => this.#settle(worker, reply));
    worker.on('error', (error: Error) => this.#end(worker, error));
    worker.on('exit', () => this.#end(worker, new Error('the payload thread exited')));
    this.#worker = worker;
    return worker;
  }

  #settle(worker: Worker, reply: TaskReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // An idle thread must not keep the process alive.
    if (this.#waiting.size === 0) worker.unref();
    if ('output' in reply) waiting?.resolve(unpacked(reply.output));
    else if ('unreadable' in reply)
      waiting?.reject(requestError('json_unreadable', reply.unreadable));
    else waiting?.reject(new Error(reply.failure));
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function unpacked(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || !('parts' in output)) return output;
  const { all, parts } = output as PackedBatch; // only the batch task returns `parts`
  let start = 0;
  return parts.map((part): ReadItem => {
    if ('item' in part) return part.item;
    const bytes = all.subarray(start, part.end);
    start = part.end;
    return { fields: part.fields, unknown: part.unknown, payload: { bytes, ...part.about } };
  });
}
