import {
  type Clock,
  Exclusive,
  type Random,
  type RelationalStore,
  randomLetters,
} from '@plinth/kernel';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../model/platform/platform-settings.js';
import { AccountsRefused } from '../../model/violation.js';
import type { AccountTables } from '../../storage/account-tables.js';
import { type CommitQueue, WriteSet } from '../../storage/commit-queue.js';
import { isShared } from '../../storage/lock-version-store.js';
import { notFound } from '../refusals.js';

export const DEFAULT_PLATFORM = 'plat_default';

/** Maximum number of platforms. All of them are in memory, with a few kilobytes each. */
const MAX_PLATFORM_COUNT = 10_000;

export interface Platform {
  readonly id: string;
  readonly createdMs: number;
  readonly settings: PlatformSettings;
}

interface PlatformsDeps {
  readonly store: RelationalStore;
  readonly commits: CommitQueue;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Platforms and their settings, stored durably and cached in memory, because every request needs
 * them.
 */
export class Platforms {
  readonly #deps: PlatformsDeps;
  readonly #byId = new Map<string, Platform>();
  readonly #changes = new Exclusive();

  constructor(deps: PlatformsDeps) {
    this.#deps = deps;
  }

  /** Whether the store already contains a platform. */
  async hasStored(): Promise<boolean> {
    const row = await this.#deps.store
      .reader<AccountTables>()
      .selectFrom('accounts_platforms')
      .select('id')
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** @returns whether this is the first start, without stored platforms. */
  async load(): Promise<boolean> {
    await this.reload();
    const isFirst = !this.#byId.has(DEFAULT_PLATFORM);
    if (isFirst) await this.#insert(DEFAULT_PLATFORM, DEFAULT_PLATFORM_SETTINGS);
    return isFirst;
  }

  /** Reloads changes of other nodes. */
  async reload(): Promise<void> {
    await this.#changes.run(() => this.#read());
  }

  async #read(): Promise<void> {
    const rows = await this.#deps.store
      .reader<AccountTables>()
      .selectFrom('accounts_platforms')
      .selectAll()
      .orderBy('created_ms')
      .orderBy('id')
      .execute();
    this.#byId.clear();
    for (const { id, created_ms, settings } of rows) {
      // Settings that were added by a later version are set to their defaults.
      const stored = JSON.parse(settings) as Partial<PlatformSettings>;
      const whole = { ...DEFAULT_PLATFORM_SETTINGS, ...stored };
      this.#byId.set(id, { id, createdMs: Number(created_ms), settings: whole });
    }
  }

  /** Version for requests whose platform is unknown. */
  get defaultVersion(): string {
    const platform = this.#byId.get(DEFAULT_PLATFORM);
    return (platform?.settings ?? DEFAULT_PLATFORM_SETTINGS).default_api_version;
  }

  find(id: string): Platform | undefined {
    return this.#byId.get(id);
  }

  /** Throws `not_found`. */
  get(id: string): Platform {
    const platform = this.#byId.get(id);
    if (platform === undefined) throw notFound('platform', id);
    return platform;
  }

  list(): readonly Platform[] {
    return [...this.#byId.values()];
  }

  /** Uses the id of a preset key's platform, or generates one. */
  async create(settings: PlatformSettings, id?: string): Promise<Platform> {
    return await this.#changes.run(async () => {
      if (this.#byId.size >= MAX_PLATFORM_COUNT) {
        throw new AccountsRefused({
          code: 'service_overloaded',
          message: `The limit of ${MAX_PLATFORM_COUNT} platforms has been reached; delete a platform first.`,
        });
      }
      return await this.#insert(id ?? `plat_${randomLetters(this.#deps.random, 16)}`, settings);
    });
  }

  /** @param change returns the new settings, or throws to reject the change. */
  async update(
    id: string,
    change: (settings: PlatformSettings) => PlatformSettings,
  ): Promise<Platform> {
    return await this.#changes.run(async () => {
      if (isShared(this.#deps.store)) await this.#read();
      const platform = this.get(id);
      return await this.#put({ ...platform, settings: change(platform.settings) });
    });
  }

  /**
   * Deletes a platform and its keys. Refuses a platform with accounts, which would become
   * unreachable.
   */
  async delete(id: string): Promise<void> {
    await this.#changes.run(async () => {
      this.get(id);
      if (id === DEFAULT_PLATFORM) {
        throw new AccountsRefused({
          code: 'invalid_fields',
          message: `The platform ${DEFAULT_PLATFORM} cannot be deleted.`,
        });
      }
      await this.#deps.commits.commit(new WriteSet().delete('accounts_platforms', id));
      this.#byId.delete(id);
    });
  }

  async #insert(id: string, settings: PlatformSettings): Promise<Platform> {
    return await this.#put({ id, createdMs: this.#deps.clock.nowMs(), settings });
  }

  async #put(platform: Platform): Promise<Platform> {
    const { id, createdMs, settings } = platform;
    const row = { id, created_ms: createdMs, settings: JSON.stringify(settings) };
    await this.#deps.commits.commit(new WriteSet().put('accounts_platforms', row));
    this.#byId.set(id, platform);
    return platform;
  }
}
