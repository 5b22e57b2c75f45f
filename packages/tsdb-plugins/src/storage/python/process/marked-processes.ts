import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';

/**
 * Environment variable of a worker and of all processes that its plugins start, including processes that left its process group.
 */
export const MARK_VARIABLE = 'PLINTH_PLUGIN_WORKER';

const PREFIX = `${MARK_VARIABLE}=`;
/** Maximum age of a process count. */
const COUNTED_FOR_MS = 250;
/** Number of reads before yielding to the event loop; each takes several microseconds. */
const READS_PER_TICK = 50;
/** Maximum number of rounds; a later round finds processes that started during an earlier one. */
const ROUNDS = 20;

/** Process ids by mark. */
type Found = ReadonlyMap<string, readonly number[]>;

/**
 * Finds plugin processes by the mark in their environment; finds none on systems without `/proc`.
 * Processes that replaced their environment are not found. A scan reads all processes of the
 * system, so concurrent callers share it.
 */
export class MarkedProcesses {
  readonly #clock: Clock;
  #last: Promise<Found> = Promise.resolve(new Map());
  #lastMs = Number.NEGATIVE_INFINITY;
  #next: Promise<Found> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a recent number of processes with the mark. */
  async count(mark: string): Promise<number> {
    const isFresh = this.#clock.monotonicMs() - this.#lastMs < COUNTED_FOR_MS;
    const found = await (isFresh ? this.#last : this.#refresh());
    return found.get(mark)?.length ?? 0;
  }

  /** Kills all processes with the mark. */
  async end(mark: string): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const found = (await this.#refresh()).get(mark);
      if (found === undefined) return;
      // Stop all of them first, so that they cannot start others in the meantime.
      for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
        for (const pid of found) signalProcess(pid, signal);
      }
    }
  }

  /** Starts a scan, or joins one that has not started yet. */
  #refresh(): Promise<Found> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      this.#lastMs = this.#clock.monotonicMs();
      this.#last = readProcesses();
      return this.#last;
    });
    return this.#next;
  }
}

async function readProcesses(): Promise<Found> {
  const found = new Map<string, number[]>();
  let readCount = 0;
  for (const name of processNames()) {
    const mark = markOf(name);
    if (mark !== undefined) {
      const pids = found.get(mark);
      if (pids === undefined) found.set(mark, [Number(name)]);
      else pids.push(Number(name));
    }
    if (++readCount % READS_PER_TICK === 0) await setImmediate();
  }
  return found;
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // The system has no /proc.
  }
}

/** Files in /proc do not access the disk. */
function markOf(name: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${name}/environ`, 'latin1');
    const at = text.startsWith(PREFIX) ? 0 : text.indexOf(`\0${PREFIX}`) + 1;
    if (at === 0 && !text.startsWith(PREFIX)) return undefined;
    return text.slice(at + PREFIX.length).split('\0', 1)[0];
  } catch {
    return undefined; // The process ended, or belongs to another user.
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended in the meantime.
  }
}
