import type { Clock, Logger, Random } from '@plinth/kernel';
import { Exclusive, hasExpired } from '@plinth/kernel';
import { identityError } from '../errors.js';
import {
  hashKey,
  type IssuedPlatformKey,
  type ListedPlatformKey,
  makeKeyId,
  makeKeyText,
  type PlatformKey,
  type PlatformKeyKind,
  readKeyText,
} from '../model/platform-key.js';
import type { PlatformKeyStore } from '../storage/platform-key-store.js';
import { LastUsed } from './last-used.js';
import { SharedReading } from './shared-reading.js';

/** All keys are in memory, about 300 bytes each. */
const MAX_KEY_COUNT = 100_000;

export interface NewPlatformKey {
  readonly platform: string;
  readonly kind: PlatformKeyKind;
  readonly livemode: boolean;
  readonly expiresMs?: number | undefined;
}

/** A key with a given text; the text contains the kind and mode. */
export interface PresetPlatformKey {
  readonly platform: string;
  readonly text: string;
}

export type FoundKey =
  | { readonly status: 'valid'; readonly key: PlatformKey }
  | { readonly status: 'ended' }
  | { readonly status: 'unknown' };

/**
 * Platform keys, kept in memory by the hash of their text and durably in the store. Changes are
 * serialized and become visible once they are durable. Source: accounts, section 3.
 */
export class PlatformKeys {
  readonly #store: PlatformKeyStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byId = new Map<string, PlatformKey>();
  readonly #byHash = new Map<string, PlatformKey>();
  readonly #changes = new Exclusive();
  readonly #reading: SharedReading;
  readonly #lastUsed: LastUsed<string>;

  constructor(deps: {
    store: PlatformKeyStore;
    clock: Clock;
    random: Random;
    maxAgeSec: number;
    log?: Logger | undefined;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#reading = new SharedReading(deps.clock, deps.maxAgeSec);
    this.#lastUsed = new LastUsed((uses) => deps.store.noteUses(uses), deps.log);
  }

  /**
   * Loads the stored keys. Call before any other method, and again to read changes of other nodes.
   */
  async load(): Promise<void> {
    await this.#changes.run(async () => {
      const startMs = this.#clock.monotonicMs();
      const keys = await this.#store.readAll();
      this.#reading.note(startMs);
      this.#byId.clear();
      this.#byHash.clear();
      for (const { key } of keys) this.#show(key);
      this.#lastUsed.load(keys.map(({ key: { id }, lastUsedMs }) => [id, lastUsedMs]));
    });
  }

  /**
   * Finds a key in memory, synchronously. The look-up compares digests, so its duration reveals
   * nothing about a key's text. Throws `CredentialUncheckable` when the last reload was too long
   * ago.
   */
  find(text: string): FoundKey {
    if (readKeyText(text) === undefined) return { status: 'unknown' };
    this.#reading.requireRecent();
    const key = this.#byHash.get(hashKey(text));
    if (key === undefined) return { status: 'unknown' };
    const { revokedMs, expiresMs } = key;
    const nowMs = this.#clock.nowMs();
    if (revokedMs !== undefined || hasExpired(expiresMs, nowMs)) return { status: 'ended' };
    this.#lastUsed.note(key.id, nowMs);
    return { status: 'valid', key };
  }

  /** Stores the last-used times. */
  async flushLastUsed(): Promise<void> {
    await this.#lastUsed.flush();
  }

  /** Returns all keys in order of creation, including expired and revoked ones. */
  list(platform: string): readonly ListedPlatformKey[] {
    return [...this.#byId.values()]
      .filter((key) => key.platform === platform)
      .map((key) => ({ ...key, lastUsedMs: this.#lastUsed.of(key.id) }));
  }

  /** Throws `platform_key_limit_reached`. */
  async create(newKeys: readonly NewPlatformKey[]): Promise<readonly IssuedPlatformKey[]> {
    const issued = newKeys.map((each) => this.#issue(each, this.#newText(each)));
    await this.#insert(issued);
    return issued;
  }

  /**
   * Adds preset keys and leaves existing ones unchanged. Throws `platform_key_malformed`, and
   * `platform_key_exists` when a key belongs to another platform.
   */
  async adopt(presets: readonly PresetPlatformKey[]): Promise<void> {
    const issued = presets.flatMap(({ platform, text }): IssuedPlatformKey[] => {
      const about = readGivenKey(text);
      const known = this.#byHash.get(hashKey(text));
      if (known === undefined) return [this.#issue({ platform, ...about }, text)];
      if (known.platform !== platform)
        throw identityError('platform_key_exists', { platform: known.platform });
      return [];
    });
    if (issued.length > 0) await this.#insert(issued);
  }

  /** @returns whether the platform has such a key. */
  async revoke(platform: string, id: string): Promise<boolean> {
    return await this.#changes.run(async () => {
      const key = this.#byId.get(id);
      if (key === undefined || key.platform !== platform) return false;
      if (key.revokedMs !== undefined) return true;
      const revokedMs = this.#clock.nowMs();
      await this.#store.revoke(id, revokedMs);
      this.#show({ ...key, revokedMs });
      return true;
    });
  }

  /** Deletes all keys of a deleted platform. */
  async deletePlatform(platform: string): Promise<void> {
    await this.#changes.run(async () => {
      await this.#store.deletePlatform(platform);
      for (const key of this.list(platform)) {
        this.#byId.delete(key.id);
        this.#byHash.delete(key.hash);
        this.#lastUsed.forget(key.id);
      }
    });
  }

  #newText({ kind, livemode }: NewPlatformKey): string {
    return makeKeyText(this.#random, kind, livemode);
  }

  #issue({ platform, kind, livemode, expiresMs }: NewPlatformKey, text: string): IssuedPlatformKey {
    const key: PlatformKey = {
      id: makeKeyId(this.#random),
      platform,
      kind,
      livemode,
      hash: hashKey(text),
      last4: text.slice(-4),
      createdMs: this.#clock.nowMs(),
      expiresMs,
      revokedMs: undefined,
    };
    return { key, text };
  }

  async #insert(issued: readonly IssuedPlatformKey[]): Promise<void> {
    await this.#changes.run(async () => {
      if (this.#byId.size + issued.length > MAX_KEY_COUNT) {
        throw identityError('platform_key_limit_reached', { limit: MAX_KEY_COUNT });
      }
      await this.#store.insert(issued.map(({ key }) => key));
      for (const { key } of issued) this.#show(key);
    });
  }

  #show(key: PlatformKey): void {
    this.#byId.set(key.id, key);
    this.#byHash.set(key.hash, key);
  }
}

/**
 * Returns the kind and mode of a given key text. Throws `platform_key_malformed`, whose message
 * never contains the key.
 */
export function readGivenKey(text: string): NonNullable<ReturnType<typeof readKeyText>> {
  const about = readKeyText(text);
  if (about === undefined) throw identityError('platform_key_malformed');
  return about;
}
