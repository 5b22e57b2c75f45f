import { Worker, type WorkerOptions } from 'node:worker_threads';

interface Waiting<Reply> {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Sends requests to a worker thread that replies to each of them, in order. The first request starts
 * the thread, as does the next one after a failure. An idle thread does not keep the process alive.
 * The caller bounds the number of waiting requests.
 */
export class WorkerClient<Request, Reply> {
  readonly #entry: URL;
  readonly #options: WorkerOptions & { readonly name: string };
  #worker: Worker | undefined;
  /** Requests without a reply, oldest first. */
  #waiting: Waiting<Reply>[] = [];

  /** @param entry the file that the thread runs. */
  constructor(entry: URL, options: WorkerOptions & { readonly name: string }) {
    this.#entry = entry;
    this.#options = options;
  }

  /**
   * Rejects when the thread fails or is stopped before its reply.
   * @param transfer buffers in `message` that the caller cannot use afterwards.
   */
  async request(message: Request, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    const worker = this.#worker ?? this.#start();
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      worker.ref();
      worker.postMessage(message, [...transfer]);
    });
  }

  /** Terminates the thread; waiting requests reject with `why`. The next request starts another thread. */
  async stop(why: Error): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#end(worker, why);
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, this.#options);
    worker.on('message', (reply: Reply) => {
      if (this.#worker !== worker) return; // replied while it was stopped
      const waiting = this.#waiting.shift();
      if (this.#waiting.length === 0) worker.unref();
      waiting?.resolve(reply);
    });
    worker.on('messageerror', (error: Error) => this.#end(worker, error));
    worker.on('error', (error: Error) => this.#end(worker, error));
    worker.on('exit', () => {
      this.#end(worker, new Error(`the thread ${this.#options.name} exited`));
    });
    this.#worker = worker;
    return worker;
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
