import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection, DuckDBPendingResult } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

const LONGEST_SLEEP_MS = 10;

/**
 * Runs a statement in DuckDB's own threads, of which there must be at least one. With `run`, a
 * thread of the pool takes part in the work, and spins while another thread has the last task.
 * Writing a file has one task for most of the time, so `run` takes twice the CPU time (ADR 0167).
 */
export async function runInBackground(connection: DuckDBConnection, text: string): Promise<void> {
  const pending = await connection.start(text);
  // A short statement ends within the first sleeps.
  for (let sleepMs = 1; isRunning(pending); sleepMs = Math.min(sleepMs + 1, LONGEST_SLEEP_MS))
    await sleep(sleepMs);
  await pending.getResult(); // throws the error of the statement
}

function isRunning(pending: DuckDBPendingResult): boolean {
  // The wrapper's handle is in a property that its types hide.
  const handle = (pending as unknown as { readonly pending_result: duckdb.PendingResult })
    .pending_result;
  const state = duckdb.pending_execute_check_state(handle);
  return state !== duckdb.PendingState.RESULT_READY && state !== duckdb.PendingState.ERROR;
}
