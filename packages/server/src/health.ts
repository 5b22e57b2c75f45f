import type { Clock, Logger } from '@plinth/kernel';
import type { DataFolder } from './folder/data-folder.js';
import type { Stores } from './folder/stores.js';

/** A look at the stores is good for so long: health checks come often, and from many. */
const REMEMBER_MS = 1000;
/** A store that takes longer is away. */
const TIMEOUT_MS = 5000;

/** Its files are open still, so that nothing fails by itself. */
const GONE =
  'the data folder was removed or moved away, or lies under another file system; stop the server';

/** Whether whoever has the choice should send requests here. */
export class Health {
  readonly #stores: Pick<Stores, 'probe' | 'local'>;
  readonly #folder: Pick<DataFolder, 'isInPlace'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #obstacles: () => readonly (string | undefined)[];
  #looked: Promise<string | undefined> | undefined;
  #lookedMs = 0;
  /** A look that a store has not answered yet: another one would hang beside it. */
  #isProbing = false;
  /** What the log was told last. */
  #told: string | undefined;

  constructor(needs: {
    readonly stores: Pick<Stores, 'probe' | 'local'>;
    readonly folder: Pick<DataFolder, 'isInPlace'>;
    readonly clock: Clock;
    readonly log: Logger;
    /** What the server's parts know of themselves without a look. */
    readonly obstacles: () => readonly (string | undefined)[];
  }) {
    this.#stores = needs.stores;
    this.#folder = needs.folder;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#obstacles = needs.obstacles;
  }

  /** Why not, in words for operators; `undefined` when all is well. */
  async obstacle(): Promise<string | undefined> {
    const known = this.#obstacles().find((each) => each !== undefined);
    return known ?? this.#stores.local.obstacle?.message ?? (await this.storageObstacle());
  }

  /** Why the stores that have to be asked are of no use at the moment: a look at most every second. */
  async storageObstacle(): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const isOver = nowMs - this.#lookedMs >= REMEMBER_MS;
    if (this.#looked === undefined || (isOver && !this.#isProbing)) {
      this.#lookedMs = nowMs;
      this.#looked = this.#look();
    }
    return await this.#looked;
  }

  async #look(): Promise<string | undefined> {
    const answered = new AbortController();
    const late = this.#clock.sleep(TIMEOUT_MS, answered.signal).then(
      () => this.#logProblem('storage does not answer', {}),
      () => undefined,
    );
    this.#isProbing = true;
    const probed = this.#probe();
    try {
      return await Promise.race([probed, late]);
    } finally {
      answered.abort();
    }
  }

  async #probe(): Promise<string | undefined> {
    try {
      const obstacle = await this.#stores.probe();
      if (!(await this.#folder.isInPlace())) return this.#logProblem(GONE, {});
      this.#logProblem(undefined, {});
      return obstacle?.message;
    } catch (err) {
      return this.#logProblem('storage cannot be reached', { err });
    } finally {
      this.#isProbing = false;
    }
  }

  /** Checks come often: the log is told of what is different from before. */
  #logProblem(why: string | undefined, facts: object): string | undefined {
    if (why !== this.#told) {
      if (why === undefined) this.#log.warn('storage answers again');
      else this.#log.error(facts, why);
    }
    this.#told = why;
    return why;
  }
}
