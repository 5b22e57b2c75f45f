import type { Clock, Logger } from '@plinth/kernel';
import type { Stores } from './stores.js';

/** A look at the stores is good for so long: health checks come often, and from many. */
const REMEMBER_MS = 1000;
/** A store that takes longer is away. */
const PATIENCE_MS = 5000;

/** Whether whoever has the choice should send requests here. */
export class Health {
  readonly #stores: Pick<Stores, 'probe' | 'local'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #obstacles: () => readonly (string | undefined)[];
  #looked: Promise<string | undefined> | undefined;
  #lookedMs = 0;

  constructor(needs: {
    readonly stores: Pick<Stores, 'probe' | 'local'>;
    readonly clock: Clock;
    readonly log: Logger;
    /** What the server's parts know of themselves without a look. */
    readonly obstacles: () => readonly (string | undefined)[];
  }) {
    this.#stores = needs.stores;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#obstacles = needs.obstacles;
  }

  /** Why not, in words for operators; `undefined` when all is well. */
  async obstacle(): Promise<string | undefined> {
    const known = this.#obstacles().find((each) => each !== undefined);
    return known ?? this.#stores.local.obstacle?.message ?? (await this.#atStores());
  }

  async #atStores(): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#looked === undefined || nowMs - this.#lookedMs >= REMEMBER_MS) {
      this.#lookedMs = nowMs;
      this.#looked = this.#look();
    }
    return await this.#looked;
  }

  async #look(): Promise<string | undefined> {
    const answered = new AbortController();
    const late = this.#clock.sleep(PATIENCE_MS, answered.signal).then(
      () => 'storage does not answer',
      () => undefined,
    );
    const probed = this.#stores.probe().then(
      () => undefined,
      (err: unknown) => {
        this.#log.error({ err }, 'storage cannot be reached');
        return 'storage cannot be reached';
      },
    );
    try {
      return await Promise.race([probed, late]);
    } finally {
      answered.abort();
    }
  }
}
