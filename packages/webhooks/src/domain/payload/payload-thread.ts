import { Worker } from 'node:worker_threads';
import { JsonUnreadable } from '@plinth/kernel';
import type { TaskName } from './payload-tasks.js';

export interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

export type TaskReply =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly unreadable: JsonUnreadable['reason'] }
  | { readonly id: number; readonly failure: string };

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that does one payload task after the other. It is started by the first one, and anew after it failed. */
export class PayloadThread {
  #worker: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  /** @param handedOver memory in `input` that the caller needs no more. */
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
    worker.on('exit', () => this.#end(worker, new Error('the thread for payloads ended')));
    this.#worker = worker;
    return worker;
  }

  #settle(worker: Worker, reply: TaskReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    // With nothing to do it does not keep the process alive.
    if (this.#waiting.size === 0) worker.unref();
    if ('output' in reply) waiting?.resolve(reply.output);
    else if ('unreadable' in reply) waiting?.reject(new JsonUnreadable(reply.unreadable));
    else waiting?.reject(new Error(reply.failure));
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
