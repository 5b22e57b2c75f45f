import {
  type Clock,
  type Random,
  RawStatements,
  type RelationalStore,
  randomLetters,
  type SqlConnection,
} from '@plinth/kernel';
import type { Kysely, Selectable } from 'kysely';
import type { AccountTables } from './account-tables.js';

type LockVersionRow = Selectable<AccountTables['accounts_guards']>;

/**
 * A row of `accounts_guards`: the version that was read, and the version that the commit writes. A
 * row is either the version of a process-local lock, as other nodes see it, or the marker of work
 * that runs only once (`WriteSet.onlyOnce`).
 */
export interface LockVersion {
  /** Name of the lock, or of the work. */
  readonly id: string;
  /** `undefined` if the lock was never changed, or if its version has since been deleted. */
  readonly seen: string | undefined;
  readonly next: string;
  readonly createdMs: number;
}

const VERSION_LENGTH = 16;

/**
 * Makes in-process locks safe across nodes that share the store. Each lock has a version, which is
 * read before the data that the request depends on. The commit verifies and replaces it. Versions
 * are random, so a deleted version never recurs.
 */
export class LockVersionStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #sql: RawStatements;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #isShared: boolean;

  constructor(deps: {
    readonly store: RelationalStore;
    readonly clock: Clock;
    readonly random: Random;
  }) {
    this.#reader = deps.store.reader<AccountTables>();
    this.#sql = new RawStatements(deps.store.system);
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#isShared = isShared(deps.store);
  }

  /** Returns an empty list if the store belongs to one process. */
  async readVersions(lockKeys: readonly string[]): Promise<readonly LockVersion[]> {
    if (!this.#isShared || lockKeys.length === 0) return [];
    const ids = [...new Set(lockKeys)].sort();
    const found = new Map<string, string>();
    for (const { id, version } of await readLockVersions(this.#sql, this.#reader, ids))
      found.set(id, version);
    const createdMs = this.#clock.nowMs();
    return ids.map((id) => ({
      id,
      seen: found.get(id),
      next: randomLetters(this.#random, VERSION_LENGTH),
      createdMs,
    }));
  }
}

/** Whether other nodes may change data that this node has read. */
export const isShared = (store: RelationalStore): boolean => store.system === 'postgresql';

export async function readLockVersions(
  sql: RawStatements,
  on: SqlConnection,
  ids: readonly string[],
): Promise<readonly Pick<LockVersionRow, 'id' | 'version'>[]> {
  const text = `select id, version from accounts_guards where ${sql.isOneOf('id')}`;
  return await sql.all<Pick<LockVersionRow, 'id' | 'version'>>(on, text, [JSON.stringify(ids)]);
}

export const toLockVersionRow = ({ id, next, createdMs }: LockVersion): LockVersionRow => ({
  id,
  version: next,
  created_ms: createdMs,
});
