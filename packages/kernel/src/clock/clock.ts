/** The only source of time. Tests control it with a `ManualClock`. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
  /** Returns the wall-clock time in nanoseconds since 1970-01-01 UTC. */
  nowNs(): bigint;
  /** Returns milliseconds from an arbitrary start; never runs backwards. */
  monotonicMs(): number;
  /** Resolves after `delayMs`; rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` every `intervalMs` until the returned handle is disposed. A slow run delays the next one, so runs
   * never overlap. Does not keep the process alive.
   */
  every(intervalMs: number, run: () => void | Promise<void>): Disposable;
}
