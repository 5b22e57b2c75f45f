import type { Clock, Logger } from '@plinth/kernel';

const CHECK_MS = 1000;

/** A part that refuses writes while it has an obstacle. */
export interface Obstructed {
  readonly what: string;
  /** Returns the reason or the error; `undefined` while writes are accepted. */
  obstacle(): string | Error | undefined;
}

/** Logs once when writes start to be refused, and once when they are accepted again. */
export class ObstacleLog {
  readonly #log: Logger;
  readonly #watched: readonly Obstructed[];
  readonly #refusing = new Set<Obstructed>();
  readonly #timer: Disposable;

  constructor(clock: Clock, log: Logger, watched: readonly Obstructed[]) {
    this.#log = log;
    this.#watched = watched;
    this.#timer = clock.every(CHECK_MS, () => this.#check());
  }

  close(): void {
    this.#timer[Symbol.dispose]();
  }

  #check(): void {
    for (const each of this.#watched) {
      const obstacle = each.obstacle();
      if ((obstacle !== undefined) === this.#refusing.has(each)) continue;
      const { what } = each;
      if (obstacle === undefined) {
        this.#refusing.delete(each);
        this.#log.warn({ what }, 'writes are accepted again');
      } else {
        this.#refusing.add(each);
        const why = typeof obstacle === 'string' ? { why: obstacle } : { err: obstacle };
        this.#log.error({ what, ...why }, 'writes are refused');
      }
    }
  }
}
