import type { Clock, Logger } from '@plinth/kernel';

const LOOK_MS = 1000;

/** What refuses writes while it has an obstacle. */
export interface Obstructed {
  readonly what: string;
  /** Why, in words or as what failed; `undefined`: it takes them. */
  obstacle(): string | Error | undefined;
}

/** Tells when writes begin to be refused and when they are taken again, each once: those that are refused may be thousands. */
export class ObstacleLog {
  readonly #log: Logger;
  readonly #watched: readonly Obstructed[];
  readonly #refusing = new Set<Obstructed>();
  readonly #looks: Disposable;

  constructor(clock: Clock, log: Logger, watched: readonly Obstructed[]) {
    this.#log = log;
    this.#watched = watched;
    this.#looks = clock.every(LOOK_MS, () => this.#look());
  }

  close(): void {
    this.#looks[Symbol.dispose]();
  }

  #look(): void {
    for (const each of this.#watched) {
      const obstacle = each.obstacle();
      if ((obstacle !== undefined) === this.#refusing.has(each)) continue;
      const { what } = each;
      if (obstacle === undefined) {
        this.#refusing.delete(each);
        this.#log.warn({ what }, 'writes are taken again');
      } else {
        this.#refusing.add(each);
        const why = typeof obstacle === 'string' ? { why: obstacle } : { err: obstacle };
        this.#log.error({ what, ...why }, 'writes are refused');
      }
    }
  }
}
