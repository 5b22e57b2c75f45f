import { parentPort } from 'node:worker_threads';
import { invariant } from '../../errors/invariant.js';
import { type DatabaseTask, runDatabaseTask } from './database-task-runner.js';
import { DatabaseThread } from './database-thread.js';
import { codeOf, isCorruption } from './sqlite-errors.js';
import type { Command, OpeningFault, WorkerSettings } from './worker-protocol.js';

// The entry point of the worker thread. It owns both connections and is the only user of the database.
const port = parentPort;
invariant(port !== null, 'this module must run in a worker thread');

port.once('message', async (settings: WorkerSettings | DatabaseTask | undefined) => {
  if (settings === undefined) {
    port.close(); // The thread is not needed.
    return;
  }
  if ('task' in settings) {
    const stop = new AbortController();
    port.once('message', () => stop.abort());
    port.postMessage(await runDatabaseTask(settings, stop.signal));
    port.close();
    return;
  }
  const thread = await openThread(settings);
  if (!(thread instanceof DatabaseThread)) {
    port.postMessage(thread);
    port.close();
    return;
  }
  port.on('message', (commands: readonly Command[]) => {
    const replies = thread.runAll(commands);
    if (replies.length > 0) port.postMessage(replies);
    if (thread.isClosed) port.close();
  });
  port.postMessage([]); // open and ready
});

async function openThread(settings: WorkerSettings): Promise<DatabaseThread | OpeningFault> {
  let thread: DatabaseThread | undefined;
  try {
    thread = new DatabaseThread(settings);
    const faults = settings.isChecked ? await thread.findFaults() : [];
    if (faults.length === 0) return thread;
    thread.close();
    return { corruption: faults.join('; ') };
  } catch (error) {
    if (thread?.isClosed === false) thread.close();
    const code = codeOf(error);
    if (!isCorruption(code)) throw error;
    return { corruption: error instanceof Error ? error.message : code };
  }
}
