import type { RelationalStore } from '@plinth/kernel';
import { accountsError } from '../../errors.js';
import type { AccountTables } from '../account-tables.js';
import { Sealer, type SealingKeys } from '../sealer.js';

const NAME = 'key_file';
const PROOF = 'the key file of these accounts';

/**
 * Compares the key file with the one that the data were begun with: another would seal what nobody else can read, and find no
 * repeated request. Throws `key_file_foreign`.
 */
export async function refuseForeignKeys(
  store: RelationalStore,
  keys: SealingKeys,
  place: string,
): Promise<void> {
  const own = new Sealer(keys).digest(PROOF);
  const kept = (await readKept(store)) ?? (await keep(store, own));
  if (kept !== own) throw accountsError('key_file_foreign', { path: place });
}

async function readKept(store: RelationalStore): Promise<string | undefined> {
  const row = await store
    .reader<AccountTables>()
    .selectFrom('accounts_meta')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.value;
}

/** @returns that of whoever came first. */
async function keep(store: RelationalStore, value: string): Promise<string> {
  return await store.transaction<AccountTables, string>(async (tx) => {
    await tx
      .insertInto('accounts_meta')
      .values({ name: NAME, value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const row = await tx
      .selectFrom('accounts_meta')
      .select('value')
      .where('name', '=', NAME)
      .executeTakeFirstOrThrow();
    return row.value;
  });
}
