import type { Clock, Logger } from '@plinth/kernel';
import type { DataFolder } from './folder/data-folder.js';
import type { Stores } from './folder/stores.js';

/** Results are cached for this time, because many clients check often. */
const CHECK_INTERVAL_MS = 1000;
/** A store that takes longer counts as unavailable. */
const TIMEOUT_MS = 5000;

/** Open files still work, so no other check would fail. */
const GONE = 'the data folder was removed, moved or hidden by another mount; stop the server';

/** Whether load balancers should send requests to this server. */
export class Health {
  readonly #stores: Pick<Stores, 'probe' | 'local'>;
  readonly #folder: Pick<DataFolder, 'isInPlace'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #obstacles: () => readonly (string | undefined)[];
  #lastCheck: Promise<string | undefined> | undefined;
  #checkedMs = 0;
  /** A probe is still running; starting another would leave two hanging. */
  #isProbing = false;
  /** The problem that was logged last. */
  #reportedProblem: string | undefined;

  constructor(deps: {
    readonly stores: Pick<Stores, 'probe' | 'local'>;
    readonly folder: Pick<DataFolder, 'isInPlace'>;
    readonly clock: Clock;
    readonly log: Logger;
    /** Problems that the parts of the server report themselves. */
    readonly obstacles: () => readonly (string | undefined)[];
  }) {
    this.#stores = deps.stores;
    this.#folder = deps.folder;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#obstacles = deps.obstacles;
  }

  /** Returns the reason in plain words; `undefined` when the server is ready. */
  async obstacle(): Promise<string | undefined> {
    const obstacle = this.#obstacles().find((each) => each !== undefined);
    return obstacle ?? this.#stores.local.obstacle?.message ?? (await this.storageObstacle());
  }

  /** Returns why the stores are unavailable. Probes them at most once a second. */
  async storageObstacle(): Promise<string | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const isStale = nowMs - this.#checkedMs >= CHECK_INTERVAL_MS;
    if (this.#lastCheck === undefined || (isStale && !this.#isProbing)) {
      this.#checkedMs = nowMs;
      this.#lastCheck = this.#check();
    }
    return await this.#lastCheck;
  }

  async #check(): Promise<string | undefined> {
    const answered = new AbortController();
    const late = this.#clock.sleep(TIMEOUT_MS, answered.signal).then(
      () => this.#logProblem('storage does not respond', {}),
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

  /** Logs only changes, because checks are frequent. */
  #logProblem(why: string | undefined, facts: object): string | undefined {
    if (why !== this.#reportedProblem) {
      if (why === undefined) this.#log.warn('storage responds again');
      else this.#log.error(facts, why);
    }
    this.#reportedProblem = why;
    return why;
  }
}
