import type { RelationalStore } from '@plinth/kernel';
import type { Kysely, Transaction } from 'kysely';
import { accountsError } from '../../key-errors.js';
import type { AccountTables } from '../account-tables.js';
import { type EncryptionKeys, Encryptor } from '../encryptor.js';

const NAME = 'key_file';
const CHECKED_TEXT = 'the key file of these accounts';

/**
 * Compares the key file with the one used for the existing data. Another key file would encrypt
 * data that other nodes cannot read, and would not recognize repeated requests. Throws
 * `key_file_foreign`.
 */
export async function refuseForeignKeys(
  store: RelationalStore,
  keys: EncryptionKeys,
  path: string,
): Promise<void> {
  const own = keyCheckValueOf(keys);
  const stored =
    (await readKeyCheckValue(store.reader())) ??
    (await store.transaction<AccountTables, string>(
      async (tx) => await storeKeyCheckValue(tx, own),
    ));
  if (stored !== own) throw accountsError('key_file_foreign', { path });
}

/**
 * Returns the key check value, a digest that the database stores to identify the keys of its data.
 */
export const keyCheckValueOf = (keys: EncryptionKeys): string =>
  new Encryptor(keys).digest(CHECKED_TEXT);

/** Returns `undefined` if the database has no key check value yet. */
export async function readKeyCheckValue(on: Kysely<AccountTables>): Promise<string | undefined> {
  const row = await on
    .selectFrom('accounts_meta')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.value;
}

/** @returns the stored value, which was created by the first caller. */
export async function storeKeyCheckValue(
  tx: Transaction<AccountTables>,
  value: string,
): Promise<string> {
  await tx
    .insertInto('accounts_meta')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await readKeyCheckValue(tx)) ?? value;
}
