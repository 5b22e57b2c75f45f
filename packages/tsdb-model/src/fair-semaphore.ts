import { RoundRobin } from '@plinth/kernel';
import { endOfQuery } from './query/end-of-query.js';
import type { QueryContext } from './query/query-context.js';

interface Waiting {
  readonly size: number;
  readonly start: () => void;
}

/**
 * A semaphore that never grants all slots to one owner. An owner may take more slots as long as it
 * then has at most as many as remain free (the dynamic threshold of shared packet buffers,
 * Choudhury and Hahne 1998). A single owner can use up to half of the slots, and a second owner half of the remaining
 * slots. The server's own work may use all. Waiting owners are served in rotation.
 */
export class FairSemaphore {
  #free: number;
  readonly #usedByOwner = new Map<string | undefined, number>();
  readonly #waiting = new RoundRobin<string | undefined, Waiting>();

  constructor(count: number) {
    this.#free = count;
  }

  get freeCount(): number {
    return this.#free;
  }

  get waitingCount(): number {
    return this.#waiting.count;
  }

  waitingCountOf(owner: string | undefined): number {
    return this.#waiting.countOf(owner);
  }

  /**
   * Takes the slots if they are available immediately. Returns false if other requests are waiting.
   */
  tryAcquire(owner: string | undefined, size = 1): boolean {
    if (this.#waiting.count > 0 || !this.#fits(owner, size)) return false;
    this.#change(owner, size);
    return true;
  }

  /**
   * Resolves when the slots are granted. Rejects with `query_timed_out` or `query_cancelled` when
   * the signal is aborted.
   */
  async acquire({ owner, signal }: Partial<QueryContext>, size = 1): Promise<void> {
    // The signal may have been aborted before this call.
    if (signal?.aborted) throw endOfQuery(signal);
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        size,
        start: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.remove(owner, waiting);
        if (signal !== undefined) reject(endOfQuery(signal));
        // A request behind it may now get its slots.
        this.#startWaiting();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(owner, waiting);
      this.#startWaiting();
    });
  }

  release(owner: string | undefined, size = 1): void {
    this.#change(owner, -size);
    this.#startWaiting();
  }

  /**
   * Moves one slot to another owner without freeing it in between. Returns false if the other owner
   * may not have it.
   */
  transfer(from: string | undefined, to: string | undefined): boolean {
    this.#change(from, -1);
    const isMoved = this.#fits(to, 1);
    this.#change(isMoved ? to : from, 1);
    return isMoved;
  }

  #startWaiting(): void {
    while (this.#startNext());
  }

  #startNext(): boolean {
    for (const [owner, { size }] of this.#waiting.firsts()) {
      if (this.#fits(owner, size)) {
        this.#change(owner, size);
        this.#waiting.nextOf(owner)?.start();
        return true;
      }
      // Requests do not overtake an owner without slots, because small requests could delay a large one forever.
      if (!this.#usedByOwner.has(owner)) return false;
    }
    return false;
  }

  #fits(owner: string | undefined, size: number): boolean {
    return (this.#usedByOwner.get(owner) ?? 0) + size <= this.#free;
  }

  #change(owner: string | undefined, by: number): void {
    this.#free -= by;
    if (owner === undefined) return;
    const used = (this.#usedByOwner.get(owner) ?? 0) + by;
    if (used === 0) this.#usedByOwner.delete(owner);
    else this.#usedByOwner.set(owner, used);
  }
}
