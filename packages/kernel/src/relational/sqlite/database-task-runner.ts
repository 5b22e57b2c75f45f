import Database from 'libsql/promise';
import { assertNever } from '../../errors/invariant.js';
import { type DriverConnection, findFaults, rowsOf, vacuumInto } from './database-check.js';
import { rebuild } from './database-rebuild.js';
import { readOnlyUri } from './read-only-uri.js';
import { codeOf, isCorruption } from './sqlite-errors.js';

/** A one-time task on a database file, run in its own thread. */
export type DatabaseTask =
  /** Checks the structure of all pages. `isFull` also compares indexes with their tables and checks references. */
  | {
      readonly task: 'check';
      readonly path: string;
      readonly isFull: boolean;
      /** No other process has the database open, and nothing in its folder may change. */
      readonly isReadOnly?: boolean;
    }
  /** Copies the committed state to the file `to`, which must be missing or empty. */
  | { readonly task: 'copy'; readonly path: string; readonly to: string }
  /** Writes all tables to the file `to` and creates their indexes, provided that only indexes and free pages are corrupt. */
  | { readonly task: 'rebuild'; readonly path: string; readonly to: string };

export type TaskResult =
  /** The faults of the database as reported by SQLite; empty if there are none. */
  | { readonly faults: readonly string[] }
  /** The task failed without a result, for example because the database is busy or the disk is full. */
  | { readonly failure: { readonly code: string; readonly message: string } };

/** SQLite ignores an interrupt immediately before a statement starts, so the interrupt is repeated. */
const INTERRUPT_MS = 20;

/** Never rejects. After `stop` is aborted, checks and copies fail within milliseconds. */
export async function runDatabaseTask(task: DatabaseTask, stop: AbortSignal): Promise<TaskResult> {
  try {
    switch (task.task) {
      case 'check':
        return {
          faults: await inDatabase(
            task.isReadOnly ? readOnlyUri(task.path) : task.path,
            stop,
            (database) => findFaults(database, task.isFull),
          ),
        };
      case 'copy':
        await inDatabase(task.path, stop, async (database) => {
          await database.exec(vacuumInto(task.to));
        });
        return { faults: [] };
      case 'rebuild':
        return { faults: await rebuild(task.path, task.to) };
      default:
        return assertNever(task);
    }
  } catch (error) {
    const code = codeOf(error);
    const message = error instanceof Error ? error.message : String(error);
    return isCorruption(code) ? { faults: [message] } : { failure: { code, message } };
  }
}

/** The promise version of the driver runs statements off the thread, so the thread can interrupt them. */
async function inDatabase<T>(
  path: string,
  stop: AbortSignal,
  work: (database: DriverConnection & { exec(sql: string): Promise<void> }) => Promise<T>,
): Promise<T> {
  const database = new Database(path, {});
  let interrupting: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    interrupting ??= setInterval(() => database.interrupt(), INTERRUPT_MS);
    database.interrupt();
  };
  stop.addEventListener('abort', interrupt);
  try {
    await rowsOf(database, 'PRAGMA busy_timeout = 5000');
    stop.throwIfAborted();
    return await work(database);
  } finally {
    stop.removeEventListener('abort', interrupt);
    clearInterval(interrupting);
    database.close();
  }
}
