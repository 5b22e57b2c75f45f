import type { Leases } from './lease.js';

/** Leases of a single node: a name is free unless a job of this process holds it. */
export class LocalLeases implements Leases {
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #stop = new AbortController();

  async withLease<T>(
    name: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#running.has(name) || this.#stop.signal.aborted) return undefined;
    const running = (async () => await work(this.#stop.signal))();
    this.#running.set(name, running);
    try {
      return await running;
    } finally {
      this.#running.delete(name);
    }
  }

  /** Aborts running jobs and waits until they have ended. Safe to call twice. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running.values());
  }
}
