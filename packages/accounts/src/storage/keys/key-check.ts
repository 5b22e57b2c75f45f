import type { RelationalStore } from '@plinth/kernel';
import type { Kysely, Transaction } from 'kysely';
import { accountsError } from '../../key-errors.js';
import type { AccountTables } from '../account-tables.js';
import { type EncryptionKeys, Encryptor } from '../encryptor.js';

const NAME = 'key_file';
const PROOF = 'the key file of these accounts';

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
  const own = proofOf(keys);
  const kept =
    (await readProof(store.reader())) ??
    (await store.transaction<AccountTables, string>(async (tx) => await keepProof(tx, own)));
  if (kept !== own) throw accountsError('key_file_foreign', { path });
}

/** Digest that the database stores to identify the keys of its data. */
export const proofOf = (keys: EncryptionKeys): string => new Encryptor(keys).digest(PROOF);

/** Returns `undefined` if the database has no proof of keys yet. */
export async function readProof(on: Kysely<AccountTables>): Promise<string | undefined> {
  const row = await on
    .selectFrom('accounts_meta')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirst();
  return row?.value;
}

/** @returns the stored proof, which was created by the first caller. */
export async function keepProof(tx: Transaction<AccountTables>, value: string): Promise<string> {
  await tx
    .insertInto('accounts_meta')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await readProof(tx)) ?? value;
}
