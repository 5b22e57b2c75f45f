import type { RelationalStore } from '@plinth/kernel';
import type { AccountTables } from './account-tables.js';

const BATCH_SIZE = 1000;

export interface Purged {
  readonly rowCount: number;
  readonly expiredKinds: readonly string[];
}

/** Removes expired rows in small batches, so that other writers are not delayed. */
export class RetentionStore {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  /**
   * @returns the number of removed rows, at most `BATCH_SIZE` per table: call again until it is 0.
   * Also the kinds of the tokens that expired unused.
   */
  async purge(before: {
    readonly idempotencyMs: number;
    readonly eventsMs: number;
    readonly tokensMs: number;
    readonly lockVersionsMs: number;
    readonly nowMs: number;
  }): Promise<Purged> {
    return await this.#store.transaction<AccountTables, Purged>(async (tx) => {
      const oldRecords = tx
        .selectFrom('accounts_idempotency')
        .select('id')
        .where('created_ms', '<', before.idempotencyMs)
        .limit(BATCH_SIZE);
      const oldEvents = tx
        .selectFrom('accounts_events')
        .select('id')
        .where('created_ms', '<', before.eventsMs)
        .limit(BATCH_SIZE);
      const oldTokens = tx
        .selectFrom('accounts_tokens')
        .select('id')
        .where('created_ms', '<', before.tokensMs)
        .limit(BATCH_SIZE);
      const expired = tx
        .selectFrom('accounts_tokens')
        .select('id')
        .where('expires_ms', '<', before.nowMs)
        .where('payload', 'is not', null)
        .limit(BATCH_SIZE);
      const oldLockVersions = tx
        .selectFrom('accounts_guards')
        .select('id')
        .where('created_ms', '<', before.lockVersionsMs)
        .limit(BATCH_SIZE);
      const oldAttempts = tx
        .selectFrom('accounts_attempts')
        .select('id')
        .where('attempted_ms', '<', before.eventsMs)
        .limit(BATCH_SIZE);
      const results = [
        await tx
          .deleteFrom('accounts_guards')
          .where('id', 'in', oldLockVersions)
          .executeTakeFirst(),
        await tx
          .deleteFrom('accounts_idempotency')
          .where('id', 'in', oldRecords)
          .executeTakeFirst(),
        await tx.deleteFrom('accounts_attempts').where('id', 'in', oldAttempts).executeTakeFirst(),
        await tx.deleteFrom('accounts_events').where('id', 'in', oldEvents).executeTakeFirst(),
        await tx.deleteFrom('accounts_tokens').where('id', 'in', oldTokens).executeTakeFirst(),
      ];
      const emptied = await tx
        .updateTable('accounts_tokens')
        .set({ payload: null })
        .where('id', 'in', expired)
        .returning('kind')
        .execute();
      const deletedCount = results.reduce((sum, each) => sum + Number(each.numDeletedRows), 0);
      const expiredKinds = emptied.map(({ kind }) => kind);
      return { rowCount: deletedCount + expiredKinds.length, expiredKinds };
    });
  }
}
