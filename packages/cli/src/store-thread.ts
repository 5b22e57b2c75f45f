import { Worker } from 'node:worker_threads';

/** The thread is passed through a global symbol, because the program is bundled separately from `main.js`. */
const PLACE = Symbol.for('plinth.store-thread');

/** Starts the thread of the relational store while the program loads, because both take about the same time. */
export function startStoreThread(bundle: URL): void {
  const thread = new Worker(new URL('sqlite-worker.mjs', bundle), {
    name: 'relational-store',
    // The environment still contains secrets at this point, and the thread does not need it.
    env: {},
  });
  // The thread may not be needed, for example after an invalid flag or `--help`.
  thread.unref();
  // The store also receives the error, or detects that the thread has exited.
  thread.on('error', () => undefined);
  Reflect.set(globalThis, PLACE, thread);
}

/** Lets an unused thread exit. Terminating it with the process while it loads native code would crash. */
export function endStoreThread(): void {
  takeStoreThread()?.postMessage(undefined);
}

/** Returns the thread once; `undefined` if no thread was started or it has exited. */
export function takeStoreThread(): Worker | undefined {
  const thread: unknown = Reflect.get(globalThis, PLACE);
  Reflect.deleteProperty(globalThis, PLACE);
  if (!(thread instanceof Worker) || thread.threadId < 0) return undefined;
  thread.ref();
  return thread;
}
