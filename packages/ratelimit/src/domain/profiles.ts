import type { Clock, LimitProfile } from '@plinth/kernel';
import { Memo } from '@plinth/kernel';

const MAX_REMEMBERED_COUNT = 100_000;

/** Source of profiles. Each change of a profile increments `version`. */
export interface ProfileSource {
  readonly version: number;
  /** Maximum age of a cached profile. */
  readonly rememberMs: number;
  /** `undefined` if no identity is registered under this key. */
  read(key: string): Promise<LimitProfile | undefined>;
}

/** Caches profiles (the limits that an operator sets for an identity) by identity key until any identity changes. */
export class Profiles {
  readonly #source: ProfileSource;
  readonly #clock: Clock;
  /** `null` if no identity is registered. */
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
    // The result may predate a change made during the lookup; then it is not cached.
    if (version === this.#source.version) this.#byKey.set(key, profile ?? null);
    return profile;
  }
}
