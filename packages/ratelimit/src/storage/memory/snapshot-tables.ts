import type { Migration } from '@plinth/kernel';
import { sql, type Transaction } from 'kysely';

export interface SnapshotTables {
  ratelimit_identities: {
    identity_key: string;
    /** JSON; see `snapshots.ts`. */
    state: string;
    /** Time after which the row is obsolete. */
    until_ms: number;
  };
}

export const SNAPSHOT_MIGRATIONS: readonly Migration[] = [
  { name: '0001_identities', up: createIdentities },
];

async function createIdentities(tx: Transaction<unknown>): Promise<void> {
  await sql`create table ratelimit_identities (
    identity_key text not null primary key,
    state text not null,
    until_ms bigint not null)`.execute(tx);
  await sql`create index ratelimit_identities_until on ratelimit_identities (until_ms)`.execute(tx);
}
