import { parentPort } from 'node:worker_threads';
import { invariant } from '../../errors/invariant.js';
import { type DatabaseTask, runDatabaseTask } from './database-check.js';
import { DatabaseThread } from './database-thread.js';
import type { Command, OpeningFault, WorkerSettings } from './worker-protocol.js';

// The one file that a thread starts with. It owns both connections; nothing else touches the database.
const port = parentPort;
invariant(port !== null, 'this file runs as a worker thread');

port.once('message', (settings: WorkerSettings | DatabaseTask | undefined) => {
  if (settings === undefined) {
    port.close(); // It is not needed after all.
    return;
  }
  if ('task' in settings) {
    port.postMessage(runDatabaseTask(settings));
    port.close();
    return;
  }
  const thread = openThread(settings);
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

function openThread(settings: WorkerSettings): DatabaseThread | OpeningFault {
  let thread: DatabaseThread | undefined;
  try {
    thread = new DatabaseThread(settings);
    const faults = settings.isChecked ? thread.findFaults() : [];
    if (faults.length === 0) return thread;
    thread.close();
    return { corruption: faults.join('; ') };
  } catch (error) {
    if (thread?.isClosed === false) thread.close();
    const code = error instanceof Error ? String(Reflect.get(error, 'code')) : '';
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) throw error;
    return { corruption: error instanceof Error ? error.message : code };
  }
}
