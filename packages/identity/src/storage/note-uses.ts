import type { RelationalStore } from '@plinth/kernel';
import { sql } from 'kysely';
import type { IdentityTables } from './token-tables.js';

/**
 * Stores last-used times of the credentials of a table; keeps the later of the stored and the given time.
 */
export async function noteUses(
  store: RelationalStore,
  table: 'identity_tokens' | 'identity_platform_keys',
  uses: readonly (readonly [id: string | number, usedMs: number])[],
): Promise<void> {
  await store.transaction<IdentityTables, void>(async (tx) => {
    for (const [id, usedMs] of uses) {
      await sql`
        UPDATE ${sql.table(table)} SET last_used_ms = ${usedMs}
        WHERE id = ${id} AND (last_used_ms IS NULL OR last_used_ms < ${usedMs})`.execute(tx);
    }
  });
}
