import {
  type Clock,
  type Random,
  RawStatements,
  type RelationalStore,
  randomLetters,
} from '@plinth/kernel';
import type { Kysely, Selectable } from 'kysely';
import type { AccountTables } from './account-tables.js';

type GuardRow = Selectable<AccountTables['accounts_guards']>;

/** A lock of this process as other nodes see it: the version that was there, and the one that the commit leaves. */
export interface Guard {
  /** Name of the lock. */
  readonly id: string;
  /** `undefined`: nobody has changed it, or nobody has for so long that it was forgotten. */
  readonly seen: string | undefined;
  readonly next: string;
  readonly createdMs: number;
}

const VERSION_LENGTH = 16;

/**
 * Locks hold between the requests of one process. Where nodes share the store, each lock has a version besides: it is
 * looked at before what the request decides by is read, and the commit makes sure that it is the same and changes it.
 * Versions are random, so that one that was forgotten never comes back.
 */
export class GuardStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #sql: RawStatements;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #isShared: boolean;

  constructor(needs: {
    readonly store: RelationalStore;
    readonly clock: Clock;
    readonly random: Random;
  }) {
    this.#reader = needs.store.reader<AccountTables>();
    this.#sql = new RawStatements(needs.store.engine);
    this.#clock = needs.clock;
    this.#random = needs.random;
    this.#isShared = isShared(needs.store);
  }

  /** None where the store belongs to one process. */
  async look(lockKeys: readonly string[]): Promise<readonly Guard[]> {
    if (!this.#isShared || lockKeys.length === 0) return [];
    const ids = [...new Set(lockKeys)].sort();
    const found = new Map<string, string>();
    for (const { id, version } of await readGuards(this.#sql, this.#reader, ids))
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

/** Whether other nodes may change what this one has read. */
export const isShared = (store: RelationalStore): boolean => store.engine === 'postgresql';

export async function readGuards(
  sql: RawStatements,
  on: unknown,
  ids: readonly string[],
): Promise<readonly Pick<GuardRow, 'id' | 'version'>[]> {
  const text = `select id, version from accounts_guards where ${sql.isOneOf('id')}`;
  return await sql.all<Pick<GuardRow, 'id' | 'version'>>(on, text, [JSON.stringify(ids)]);
}

export const toGuardRow = ({ id, next, createdMs }: Guard): GuardRow => ({
  id,
  version: next,
  created_ms: createdMs,
});
