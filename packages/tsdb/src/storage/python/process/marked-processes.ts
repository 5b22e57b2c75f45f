import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';

/** Carried by a worker and all that its plugins start, also by what left its process group. */
export const MARK_VARIABLE = 'PLINTH_PLUGIN_WORKER';

const PREFIX = `${MARK_VARIABLE}=`;
/** So old may a count be that others asked for. */
const COUNTED_FOR_MS = 250;
/** A read takes some microseconds; after so many others get a turn. */
const READS_PER_TURN = 50;
/** What starts processes faster than they are found is met again in the next round. */
const ROUNDS = 20;

/** Processes by their mark. */
type Found = ReadonlyMap<string, readonly number[]>;

/**
 * Finds the processes of plugins by the mark in their environment; none where the system has no `/proc`. What replaced its whole
 * environment is not found. A look is at all processes of the system, so that whoever asks meanwhile shares the next one.
 */
export class MarkedProcesses {
  readonly #clock: Clock;
  #last: Promise<Found> = Promise.resolve(new Map());
  #lastMs = Number.NEGATIVE_INFINITY;
  #next: Promise<Found> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many there are with the mark, as of some moment ago. */
  async count(mark: string): Promise<number> {
    const isFresh = this.#clock.monotonicMs() - this.#lastMs < COUNTED_FOR_MS;
    const found = await (isFresh ? this.#last : this.#look());
    return found.get(mark)?.length ?? 0;
  }

  /** Ends all processes with the mark. */
  async end(mark: string): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const found = (await this.#look()).get(mark);
      if (found === undefined) return;
      // Stopped first, so that none starts others while those before it end.
      for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
        for (const pid of found) signalProcess(pid, signal);
      }
    }
  }

  /** A look that begins after the call. */
  #look(): Promise<Found> {
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      this.#lastMs = this.#clock.monotonicMs();
      this.#last = look();
      return this.#last;
    });
    return this.#next;
  }
}

async function look(): Promise<Found> {
  const found = new Map<string, number[]>();
  let readCount = 0;
  for (const name of processNames()) {
    const mark = markOf(name);
    if (mark !== undefined) {
      const pids = found.get(mark);
      if (pids === undefined) found.set(mark, [Number(name)]);
      else pids.push(Number(name));
    }
    if (++readCount % READS_PER_TURN === 0) await turn();
  }
  return found;
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // Not this kind of system.
  }
}

/** The kernel's files need no disk. */
function markOf(name: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${name}/environ`, 'latin1');
    const at = text.startsWith(PREFIX) ? 0 : text.indexOf(`\0${PREFIX}`) + 1;
    if (at === 0 && !text.startsWith(PREFIX)) return undefined;
    return text.slice(at + PREFIX.length).split('\0', 1)[0];
  } catch {
    return undefined; // It ended, or is another user's.
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended meanwhile.
  }
}
