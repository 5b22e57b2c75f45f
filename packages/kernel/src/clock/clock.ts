/** The only source of time. Tests turn a `ManualClock` by hand. */
export interface Clock {
  /** Wall clock, milliseconds since 1970-01-01 UTC. */
  nowMs(): number;
  /** Wall clock, nanoseconds since 1970-01-01 UTC. */
  nowNs(): bigint;
  /** Milliseconds from an arbitrary start; never runs backwards. */
  monotonicMs(): number;
  /** Resolves after `delayMs`; rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` every `intervalMs` until the returned handle is disposed. A run that is still going
   * when the next is due makes that one wait, so runs never overlap. Does not keep the process alive.
   */
  every(intervalMs: number, run: () => void | Promise<void>): Disposable;
}
