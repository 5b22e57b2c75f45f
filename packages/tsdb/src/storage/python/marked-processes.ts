import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

/** Carried by a worker and all that its plugins start, also by what left its process group. */
export const MARK_VARIABLE = 'PLINTH_PLUGIN_WORKER';

/** A read takes some microseconds; after so many others get a turn. */
const READS_PER_TURN = 50;
/** What starts processes faster than they are found is met again in the next round. */
const ROUNDS = 20;

/**
 * Processes with this mark in their environment; none where the system has no `/proc`. What replaced its whole
 * environment is not found.
 */
export async function findMarked(mark: string): Promise<readonly number[]> {
  const wanted = Buffer.from(`${MARK_VARIABLE}=${mark}\0`);
  const found: number[] = [];
  let readCount = 0;
  for (const name of processNames()) {
    if (isMarked(name, wanted)) found.push(Number(name));
    if (++readCount % READS_PER_TURN === 0) await turn();
  }
  return found;
}

/** Ends all processes with the mark. */
export async function endMarked(mark: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findMarked(mark);
    if (found.length === 0) return;
    // Stopped first, so that none starts others while those before it end.
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      for (const pid of found) signalProcess(pid, signal);
    }
  }
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // Not this kind of system.
  }
}

/** The kernel's files need no disk. */
function isMarked(name: string, wanted: Buffer): boolean {
  try {
    return readFileSync(`/proc/${name}/environ`).includes(wanted);
  } catch {
    return false; // It ended, or is another user's.
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
