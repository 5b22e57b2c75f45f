import { Worker } from 'node:worker_threads';
import type { DatabaseTask, TaskResult } from './database-check.js';

/** Runs `task` in a thread of its own, beside whatever has the database open. Never rejects: a failed thread is a fault. */
export async function runInThread(task: DatabaseTask): Promise<TaskResult> {
  const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    name: 'relational-store-task',
    env: {},
  });
  let result: TaskResult = { faults: ['its thread ended'] };
  worker.on('message', (message: TaskResult) => {
    result = message;
  });
  worker.on('error', (error) => {
    result = { faults: [error.message] };
  });
  worker.postMessage(task);
  // The thread ends by itself: one that is terminated within the driver takes the process along.
  await new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return result;
}

/**
 * What is wrong with the database file at `path`, as SQLite words it; empty: nothing. Reads all of it without
 * delaying anybody. `isFull`: compares indexes with tables and looks for missing references, too.
 */
export const checkDatabase = async (path: string, isFull: boolean): Promise<readonly string[]> =>
  (await runInThread({ task: 'check', path, isFull })).faults;

/** Copies what is committed at one moment to the file `to`, which is missing or empty. Returns why it failed. */
export const copyDatabase = async (path: string, to: string): Promise<readonly string[]> =>
  (await runInThread({ task: 'copy', path, to })).faults;
