import { parentPort } from 'node:worker_threads';
import { invariant } from '../../errors/invariant.js';
import { DatabaseThread } from './database-thread.js';
import type { Command, WorkerSettings } from './worker-protocol.js';

// The one file that a thread starts with. It owns both connections; nothing else touches the database.
const port = parentPort;
invariant(port !== null, 'this file runs as a worker thread');

port.once('message', (settings: WorkerSettings | undefined) => {
  if (settings === undefined) {
    port.close(); // It is not needed after all.
    return;
  }
  const thread = new DatabaseThread(settings);
  port.on('message', (commands: readonly Command[]) => {
    const replies = thread.runAll(commands);
    if (replies.length > 0) port.postMessage(replies);
    if (thread.isClosed) port.close();
  });
  port.postMessage([]); // open and ready
});
