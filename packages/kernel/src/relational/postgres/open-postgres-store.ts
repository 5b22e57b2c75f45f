import type { SharedStore } from '../relational-store.js';
import type { PostgresStoreOptions } from './postgres-store.js';

/** Opens a store in PostgreSQL 13 or newer. The client library is loaded only here. Throws `store_unusable`. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { PostgresStore } = await import('./postgres-store.js');
  return await PostgresStore.open(options);
}
