import { RoundRobin } from '@plinth/kernel';
import { endOfQuery } from './end-of-query.js';
import type { QueryOwner } from './query-owner.js';

interface Waiting {
  readonly size: number;
  readonly start: () => void;
}

/**
 * Places of which nobody gets all: an owner may take more as long as it then has at most as many as are left free (the dynamic
 * threshold of shared packet buffers, Choudhury and Hahne 1998). One alone has up to a half, a second one a half of the rest.
 * The server's own work may have all. Owners that wait have their turns one after the other.
 */
export class FairSemaphore {
  #free: number;
  readonly #held = new Map<string | undefined, number>();
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

  /** Whether it has the places now; false where others wait. */
  takeAtOnce(owner: string | undefined, size = 1): boolean {
    if (this.#waiting.count > 0 || !this.#fits(owner, size)) return false;
    this.#change(owner, size);
    return true;
  }

  /** Resolves when it has the places. Rejects with the end of the query whose signal it is. */
  async take({ owner, signal }: Partial<QueryOwner>, size = 1): Promise<void> {
    // It may be asked for late, by then for nobody.
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
        // Whoever stood behind it may fit.
        this.#startWaiting();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(owner, waiting);
      this.#startWaiting();
    });
  }

  give(owner: string | undefined, size = 1): void {
    this.#change(owner, -size);
    this.#startWaiting();
  }

  /** Hands one place on without its being free in between; false: the other may not have it. */
  move(from: string | undefined, to: string | undefined): boolean {
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
      // Nobody overtakes one that has nothing: small ones could keep a large one waiting for ever.
      if (!this.#held.has(owner)) return false;
    }
    return false;
  }

  #fits(owner: string | undefined, size: number): boolean {
    return (this.#held.get(owner) ?? 0) + size <= this.#free;
  }

  #change(owner: string | undefined, by: number): void {
    this.#free -= by;
    if (owner === undefined) return;
    const held = (this.#held.get(owner) ?? 0) + by;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
  }
}
