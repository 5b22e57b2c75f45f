import { type Clock, hasExpired, type Random, randomLetters } from '@plinth/kernel';
import type { ManagedKey } from '../domain/platform/operator.js';
import type { PlatformKeyring } from '../service.js';

type StoredKey = ManagedKey & { readonly platform: string; readonly text: string };

/** Platform keys in memory, for a service that runs without `identity`. */
export class TestKeyring implements PlatformKeyring {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byText = new Map<string, StoredKey>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  find(text: string): ReturnType<PlatformKeyring['find']> {
    const key = this.#byText.get(text);
    if (key === undefined) return { status: 'unknown' };
    const hasEnded = key.revokedMs !== undefined || hasExpired(key.expiresMs, this.#clock.nowMs());
    return hasEnded ? { status: 'ended' } : { status: 'valid', key };
  }

  async create(newKeys: Parameters<PlatformKeyring['create']>[0]) {
    return newKeys.map(({ platform, kind, livemode, expiresMs }) => {
      const prefix = `${kind === 'secret' ? 'sk' : 'pk'}_${livemode ? 'live' : 'test'}_`;
      const text = `${prefix}${randomLetters(this.#random, 40)}`;
      return { text, key: this.#store({ platform, kind, livemode, expiresMs, text }) };
    });
  }

  async adopt(presets: Parameters<PlatformKeyring['adopt']>[0]): Promise<void> {
    for (const { platform, text } of presets) {
      const kind = text.startsWith('pk_') ? 'publishable' : 'secret';
      const livemode = text.includes('_live_');
      this.#store({ platform, kind, livemode, expiresMs: undefined, text });
    }
  }

  list(platform: string): readonly ManagedKey[] {
    return [...this.#byText.values()].filter((key) => key.platform === platform);
  }

  async revoke(platform: string, id: string): Promise<boolean> {
    const key = [...this.#byText.values()].find((each) => each.id === id);
    if (key?.platform !== platform) return false;
    this.#byText.set(key.text, { ...key, revokedMs: this.#clock.nowMs() });
    return true;
  }

  async deletePlatform(platform: string): Promise<void> {
    for (const [text, key] of this.#byText) {
      if (key.platform === platform) this.#byText.delete(text);
    }
  }

  #store(newKey: Omit<StoredKey, 'id' | 'last4' | 'createdMs' | 'revokedMs'>): StoredKey {
    const id = `key_${randomLetters(this.#random, 16)}`;
    const createdMs = this.#clock.nowMs();
    const key = { ...newKey, id, last4: newKey.text.slice(-4), createdMs, revokedMs: undefined };
    this.#byText.set(newKey.text, key);
    return key;
  }
}
