import { Worker } from 'node:worker_threads';

/** The thread travels beside the program, which is bundled apart from `main.js`. */
const PLACE = Symbol.for('plinth.store-thread');

/** Begins to start the thread of the relational store, while the program is read: each takes as long as the other. */
export function startStoreThread(bundle: URL): void {
  const thread = new Worker(new URL('sqlite-worker.mjs', bundle), {
    name: 'relational-store',
    // The variables still hold secrets here, and none means anything to it.
    env: {},
  });
  // Nobody may take it: a wrong flag ends the program, and help does.
  thread.unref();
  // The store hears of it, or finds that the thread has ended.
  thread.on('error', () => undefined);
  Reflect.set(globalThis, PLACE, thread);
}

/** Lets a thread that nobody took end by itself: the end of the process would stop it while it loads native code, which panics. */
export function endStoreThread(): void {
  takeStoreThread()?.postMessage(undefined);
}

/** The thread that was started ahead, once; `undefined` when there is none and when it has ended. */
export function takeStoreThread(): Worker | undefined {
  const thread: unknown = Reflect.get(globalThis, PLACE);
  Reflect.deleteProperty(globalThis, PLACE);
  if (!(thread instanceof Worker) || thread.threadId < 0) return undefined;
  thread.ref();
  return thread;
}
