import type { Clock, LimitProfile } from '@plinth/kernel';
import { Memo } from '@plinth/kernel';

const MAX_REMEMBERED_COUNT = 100_000;

/** Where profiles come from; whoever changes one makes `version` grow. */
export interface ProfileSource {
  readonly version: number;
  /** How long what was read may be used at most. */
  readonly rememberMs: number;
  /** `undefined`: nothing is registered under this key. */
  read(key: string): Promise<LimitProfile | undefined>;
}

/** Profiles of identities that are named by their keys, remembered until anything about identities changes. */
export class Profiles {
  readonly #source: ProfileSource;
  readonly #clock: Clock;
  /** `null`: nothing is registered. */
  readonly #byKey = new Memo<string, LimitProfile | null>({ maxCount: MAX_REMEMBERED_COUNT });
  #version = -1;
  #sinceMs = 0;

  constructor(source: ProfileSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  of(key: string): LimitProfile | undefined | Promise<LimitProfile | undefined> {
    const isStale =
      this.#version !== this.#source.version ||
      this.#clock.monotonicMs() - this.#sinceMs > this.#source.rememberMs;
    if (isStale) {
      this.#byKey.clear();
      this.#version = this.#source.version;
      this.#sinceMs = this.#clock.monotonicMs();
    }
    const known = this.#byKey.get(key);
    return known === undefined ? this.#read(key) : (known ?? undefined);
  }

  async #read(key: string): Promise<LimitProfile | undefined> {
    const version = this.#version;
    const profile = await this.#source.read(key);
    // What changed during the look-up may not be in its result.
    if (version === this.#source.version) this.#byKey.set(key, profile ?? null);
    return profile;
  }
}
