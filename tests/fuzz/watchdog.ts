import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Maximum delay that a client may cause for another one. It is far above the documented limit because other tests may
 * use the machine. It is multiplied by the number of processes per core. A statement that blocks the server does so
 * for minutes.
 */
const PATIENCE_MS = 10_000;
/** Factor by which the machine is currently slower: the number of runnable processes per core. */
export const slowness = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
const PAUSE_MS = 100;
/** After this time, the server is considered dead. */
const MAX_WAIT_MS = 300_000;

/** Requests `/health` repeatedly and records the work in progress. */
export class Watchdog {
  readonly #url: string;
  readonly #underWay = new Map<symbol, { readonly what: string; readonly startMs: number }>();
  #isStopped = false;
  /** The longest response time so far. */
  maxDelayMs = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Counts `work` as in progress until it ends. */
  async during<T>(what: string, work: Promise<T>): Promise<T> {
    const key = Symbol(what.slice(0, 20));
    this.#underWay.set(key, { what, startMs: performance.now() });
    try {
      return await work;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** Runs until `stop`. Throws with a list of the work in progress when a response took too long. */
  async watch(isRunning: () => boolean): Promise<void> {
    while (!this.#isStopped && isRunning()) {
      await this.#ask(isRunning);
      await sleep(PAUSE_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #ask(isRunning: () => boolean): Promise<void> {
    const startMs = performance.now();
    let suspects: string | undefined;
    const timer = setTimeout(() => {
      suspects = this.#shown();
    }, PATIENCE_MS * slowness());
    const answer = await fetch(`${this.#url}/health`, { signal: AbortSignal.timeout(MAX_WAIT_MS) })
      .then((response) => response.text())
      .catch((error: unknown) => error);
    clearTimeout(timer);
    const delayMs = performance.now() - startMs;
    this.maxDelayMs = Math.max(this.maxDelayMs, delayMs);
    if (!isRunning() || this.#isStopped) return; // reported elsewhere
    if (suspects !== undefined) {
      throw new Error(
        `/health was not answered for ${Math.round(delayMs)} ms; under way:\n${suspects}`,
      );
    }
    if (answer instanceof Error) {
      throw new Error(`/health failed; under way:\n${this.#shown()}`, { cause: answer });
    }
  }

  #shown(): string {
    const nowMs = performance.now();
    return [...this.#underWay.values()]
      .map(({ what, startMs }) => `  for ${Math.round(nowMs - startMs)} ms: ${what}`)
      .join('\n');
  }
}
