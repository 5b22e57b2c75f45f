import { Worker } from 'node:worker_threads';
import { StatementFailed } from '../relational-errors.js';
import type { DatabaseTask, TaskResult } from './database-task-runner.js';

/**
 * Runs `task` in a thread of its own, beside whatever has the database open, and returns the faults of the database. Rejects when the
 * task could not be done, for example because the database is busy or the disk is full, and soon after `stop` aborts.
 */
export async function runInThread(
  task: DatabaseTask,
  stop?: AbortSignal,
): Promise<readonly string[]> {
  stop?.throwIfAborted();
  const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    name: 'relational-store-task',
    env: {},
  });
  let result: TaskResult = noResult('the database thread exited without a result');
  worker.on('message', (message: TaskResult) => {
    result = message;
  });
  worker.on('error', (error) => {
    result = noResult(error.message);
  });
  worker.postMessage(task);
  // The thread ends by itself: one that is terminated within the driver takes the process along.
  const interrupt = (): void => worker.postMessage('stop');
  stop?.addEventListener('abort', interrupt);
  await new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  stop?.removeEventListener('abort', interrupt);
  if ('faults' in result) return result.faults;
  const { code, message } = result.failure;
  throw new StatementFailed(code, `${task.path}: ${task.task} failed: ${message}`);
}

const noResult = (message: string): TaskResult => ({ failure: { code: '', message } });

/**
 * Returns what is wrong with the database file at `path`, as SQLite words it; empty: nothing. Reads all of it without
 * delaying anybody. `isFull`: compares indexes with tables and looks for missing references, too. Rejects as `runInThread` does.
 */
export const checkDatabase = async (
  path: string,
  isFull: boolean,
  stop?: AbortSignal,
): Promise<readonly string[]> => await runInThread({ task: 'check', path, isFull }, stop);

/** As `checkDatabase` in full, of a database that no process has open. Changes nothing in its folder. */
export const checkClosedDatabase = async (path: string): Promise<readonly string[]> =>
  await runInThread({ task: 'check', path, isFull: true, isReadOnly: true });

/** Copies what is committed at one moment to the file `to`, which is missing or empty. Returns and rejects as `checkDatabase` does. */
export const copyDatabase = async (
  path: string,
  to: string,
  stop?: AbortSignal,
): Promise<readonly string[]> => await runInThread({ task: 'copy', path, to }, stop);
