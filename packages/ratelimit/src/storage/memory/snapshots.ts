import type { Clock, RelationalStore } from '@plinth/kernel';
import { BAN_MEMORY_MS } from '../../model/limit-store.js';
import type { Resource } from '../../model/resource.js';
import type { CachedIdentities, CachedIdentity } from './cached-identities.js';
import { SNAPSHOT_MIGRATIONS, type SnapshotTables } from './snapshot-tables.js';

export interface SnapshotsOptions {
  readonly cachedIdentities: CachedIdentities;
  readonly relational: RelationalStore;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  /** Slot length of the hourly sums; counts with another slot length cannot be restored. */
  readonly hourSlotMs: number;
  readonly onFailure: (error: unknown) => void;
}

/** A crash loses at most the counts of this interval. */
const INTERVAL_MS = 1_000;
/** Rows per statement; one batch occupies the main thread for a few milliseconds. */
const BATCH_COUNT = 500;
/** Further changes wait for the next round. */
const MAX_BATCHES_PER_ROUND = 40;
const PAGE_COUNT = 5_000;
/** Rounds between two deletions of obsolete rows. */
const CLEANING_ROUND_COUNT = 60;
const VERSION = 1;

/**
 * Content of a row's `state`. Resources are stored by bucket name, because their order depends on
 * the settings.
 */
interface State {
  readonly v: number;
  /** Windows: resource, usage, reset in epoch seconds. */
  readonly w: readonly (readonly [string, number, number])[];
  /** Content counts of the last hour by slot, and the slot length in milliseconds. */
  readonly c: readonly (readonly [number, number])[];
  readonly s: number;
  /** End of a ban in epoch milliseconds, and its level. */
  readonly b: readonly [number, number] | null;
}

/** Persists a memory store's counters, so that windows continue after a restart. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #byName: ReadonlyMap<string, Resource>;
  #pending: readonly CachedIdentity[] = [];
  #round = 0;
  #ticker: Disposable | undefined;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#byName = new Map(options.resources.map((resource) => [resource.bucket, resource]));
  }

  async prepare(): Promise<void> {
    await this.#options.relational.migrate('ratelimit', SNAPSHOT_MIGRATIONS);
  }

  /** Restores the counters. Call before the first request. */
  async start(): Promise<void> {
    const { cachedIdentities, clock } = this.#options;
    await this.prepare();
    await this.#load();
    cachedIdentities.trackChanges();
    this.#ticker = clock.every(INTERVAL_MS, () => this.#write());
  }

  /** Writes the remaining changes. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#ticker === undefined) return;
    this.#ticker[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#write(Number.POSITIVE_INFINITY);
  }

  async #load(): Promise<void> {
    const { relational, cachedIdentities, clock } = this.#options;
    const nowMs = clock.nowMs();
    let after = '';
    for (;;) {
      const rows = await relational
        .reader<SnapshotTables>()
        .selectFrom('ratelimit_identities')
        .selectAll()
        .where('identity_key', '>', after)
        .where('until_ms', '>', nowMs)
        .orderBy('identity_key')
        .limit(PAGE_COUNT)
        .execute();
      for (const { identity_key, state } of rows) {
        const identity = this.#read(identity_key, state);
        if (identity !== undefined) cachedIdentities.restore(identity);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE_COUNT) return;
      after = last.identity_key;
    }
  }

  async #write(maxBatchCount = MAX_BATCHES_PER_ROUND): Promise<void> {
    const { cachedIdentities, onFailure } = this.#options;
    try {
      for (let count = 0; count < maxBatchCount; count += 1) {
        // A failed batch is retried before further changes.
        if (this.#pending.length === 0) this.#pending = cachedIdentities.takeChanged(BATCH_COUNT);
        if (this.#pending.length === 0) break;
        await this.#upsert(this.#pending);
        this.#pending = [];
      }
      this.#round += 1;
      if (this.#round % CLEANING_ROUND_COUNT === 0) await this.#clean();
    } catch (error) {
      onFailure(error);
    }
  }

  async #upsert(identities: readonly CachedIdentity[]): Promise<void> {
    const rows = identities.map((identity) => this.#toRow(identity));
    await this.#options.relational.transaction<SnapshotTables, void>(async (tx) => {
      await tx
        .insertInto('ratelimit_identities')
        .values(rows)
        .onConflict((conflict) =>
          conflict.column('identity_key').doUpdateSet((row) => ({
            state: row.ref('excluded.state'),
            until_ms: row.ref('excluded.until_ms'),
          })),
        )
        .execute();
    });
  }

  async #clean(): Promise<void> {
    const { relational, clock } = this.#options;
    const nowMs = clock.nowMs();
    await relational.transaction<SnapshotTables, void>(async (tx) => {
      await tx
        .deleteFrom('ratelimit_identities')
        .where('identity_key', 'in', (query) =>
          query
            .selectFrom('ratelimit_identities')
            .select('identity_key')
            .where('until_ms', '<=', nowMs)
            .limit(PAGE_COUNT),
        )
        .execute();
    });
  }

  #toRow(identity: CachedIdentity): SnapshotTables['ratelimit_identities'] {
    const { resources, hourSlotMs } = this.#options;
    const { windows, contentHour, ban } = identity;
    const state: State = {
      v: VERSION,
      w: windows.map(({ resourceIndex, used, resetSec }) => [
        resources[resourceIndex]?.bucket ?? '',
        used,
        resetSec,
      ]),
      c: contentHour,
      s: hourSlotMs,
      b: ban === undefined ? null : [ban.untilMs, ban.level],
    };
    const lastSlot = contentHour.at(-1)?.[0];
    const until_ms = Math.max(
      0,
      ...windows.map(({ resetSec }) => resetSec * 1000),
      // A ban within this time after the end of the previous one is longer.
      ban === undefined ? 0 : ban.untilMs + BAN_MEMORY_MS,
      // A slot counts for one window after its end.
      lastSlot === undefined ? 0 : (lastSlot + 61) * hourSlotMs,
    );
    return {
      identity_key: identity.key,
      state: JSON.stringify(state),
      until_ms: Math.ceil(until_ms),
    };
  }

  /** Parses a row; `undefined` for a row of a later version. */
  #read(key: string, text: string): CachedIdentity | undefined {
    const state = JSON.parse(text) as State; // written by this class, or of another version
    if (state.v !== VERSION) return undefined;
    return {
      key,
      windows: state.w.flatMap(([name, used, resetSec]) => {
        const resource = this.#byName.get(name);
        return resource === undefined ? [] : [{ resourceIndex: resource.index, used, resetSec }];
      }),
      contentHour: state.s === this.#options.hourSlotMs ? state.c : [],
      ban: state.b === null ? undefined : { untilMs: state.b[0], level: state.b[1] },
    };
  }
}
