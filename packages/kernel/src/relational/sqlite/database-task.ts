import { Worker } from 'node:worker_threads';
import { StatementFailed } from '../relational-errors.js';
import type { DatabaseTask, TaskResult } from './database-task-runner.js';

/**
 * Runs `task` in its own thread, even while the database is open elsewhere, and returns the faults of the database. Rejects
 * when the task could not run, for example on a busy database or a full disk, and soon after `stop` is aborted.
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
  // The thread must exit without termination, because terminating it inside the driver would crash the process.
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
 * Returns the faults of the database file at `path` as reported by SQLite; empty if there are none. Reads the complete file
 * without blocking writers. `isFull` also compares indexes with tables and checks references. Rejects like `runInThread`.
 */
export const checkDatabase = async (
  path: string,
  isFull: boolean,
  stop?: AbortSignal,
): Promise<readonly string[]> => await runInThread({ task: 'check', path, isFull }, stop);

/** Runs a full check of a database that no process has open. Changes nothing in its folder. */
export const checkClosedDatabase = async (path: string): Promise<readonly string[]> =>
  await runInThread({ task: 'check', path, isFull: true, isReadOnly: true });

/** Copies the committed state to the file `to`, which must be missing or empty. Returns and rejects like `checkDatabase`. */
export const copyDatabase = async (
  path: string,
  to: string,
  stop?: AbortSignal,
): Promise<readonly string[]> => await runInThread({ task: 'copy', path, to }, stop);
