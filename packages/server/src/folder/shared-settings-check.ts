import {
  type Clock,
  ConfigInvalid,
  type Logger,
  type Migration,
  RawStatements,
  repeatJob,
  SHARED_NOW_MS,
  type SharedStore,
} from '@plinth/kernel';
import type { Settings } from '../settings.js';

const raw = new RawStatements('postgresql');
const MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_nodes',
    async up(tx) {
      await raw.run(
        tx,
        `create table server_nodes (
          folder text primary key,
          settings text not null,
          alive_until_ms bigint not null)`,
      );
    },
  },
];

/** Time during which a killed node prevents nodes with different settings from starting. */
const NODE_TTL_MS = 15_000;
const RENEW_MS = 5_000;

interface SharedSettingsCheckDeps {
  readonly store: SharedStore;
  readonly folder: string;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Publishes settings that all nodes of a shared database must have in common. A node with conflicting settings is not started.
 * Settings that may be changed node by node are not compared.
 */
export class SharedSettingsCheck {
  readonly #store: SharedStore;
  readonly #folder: string;
  readonly #settings: string;
  readonly #renewing: Disposable;

  /** Throws `ConfigInvalid` if a running node has different settings. */
  static async join(deps: SharedSettingsCheckDeps): Promise<SharedSettingsCheck> {
    await deps.store.migrate('server', MIGRATIONS);
    const nodes = new SharedSettingsCheck(deps);
    try {
      await nodes.#publish(sharedSettings(deps.settings));
    } catch (error) {
      nodes.#renewing[Symbol.dispose]();
      throw error;
    }
    return nodes;
  }

  private constructor(deps: SharedSettingsCheckDeps) {
    const { clock, log } = deps;
    this.#store = deps.store;
    this.#folder = deps.folder;
    this.#settings = JSON.stringify(sharedSettings(deps.settings));
    const job = { clock, log, name: 'settings of nodes', intervalMs: RENEW_MS };
    this.#renewing = repeatJob(job, () => this.#publish());
  }

  /** Other nodes may have different settings afterwards. */
  async close(): Promise<void> {
    this.#renewing[Symbol.dispose]();
    await this.#store
      .transaction((tx) => raw.run(tx, 'delete from server_nodes where folder = ?', [this.#folder]))
      .catch(() => undefined); // The row expires.
  }

  /** @param own settings that are compared with those of other nodes. */
  async #publish(own?: Readonly<Record<string, string>>): Promise<void> {
    await this.#store.transaction(async (tx) => {
      if (own !== undefined) {
        await raw.run(tx, `delete from server_nodes where alive_until_ms < ${SHARED_NOW_MS}`);
        const others = await raw.all<{ readonly settings: string }>(
          tx,
          'select settings from server_nodes where folder <> ?',
          [this.#folder],
        );
        const problems = others.flatMap(({ settings }) => differences(own, JSON.parse(settings)));
        if (problems.length > 0) throw new ConfigInvalid([...new Set(problems)]);
      }
      await raw.run(
        tx,
        `insert into server_nodes (folder, settings, alive_until_ms) values (?, ?, ${SHARED_NOW_MS} + ${NODE_TTL_MS})
          on conflict (folder) do update
          set settings = excluded.settings, alive_until_ms = excluded.alive_until_ms`,
        [this.#folder, this.#settings],
      );
    });
  }
}

/**
 * Returns the settings that must not differ, because nodes would otherwise reject or miscount tokens and keys of
 * other nodes.
 */
function sharedSettings(settings: Settings): Readonly<Record<string, string>> {
  const { identity, accounts, webhooks, rateLimit } = settings;
  const runs = (name: string) => settings.server.services.some((service) => service === name);
  return {
    'identity.credential_prefix': identity.credential_prefix,
    ...(runs('accounts') && { 'accounts.vendor_word': accounts.vendor_word }),
    ...(runs('webhooks') && { 'webhooks.vendor_name': webhooks.vendor_name }),
    ...(runs('ratelimit') && {
      'rate_limit.store': rateLimit.store,
      'rate_limit.redis_prefix': rateLimit.redis_prefix,
    }),
  };
}

function differences(
  own: Readonly<Record<string, string>>,
  theirs: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(own)
    .filter(([name, value]) => (theirs[name] ?? value) !== value)
    .map(
      ([name, value]) =>
        `${name} is ${JSON.stringify(value)} here and ${JSON.stringify(theirs[name])} on another node that runs on this database: use the same value on all nodes, or stop the others before changing it`,
    );
}
