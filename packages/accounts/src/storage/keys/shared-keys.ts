import type { Clock, Random, RelationalStore, SecretBox } from '@plinth/kernel';
import type { Kysely, Transaction } from 'kysely';
import { accountsError } from '../../key-errors.js';
import type { AccountTables } from '../account-tables.js';
import type { EncryptionKeys } from '../encryptor.js';
import {
  decodeKeys,
  encodeKeys,
  firstKeys,
  type KeyStore,
  newestOf,
  numberOf,
  oldOf,
  withNewKey,
  without,
} from './encryption-keys.js';
import { keyCheckValueOf, readKeyCheckValue, storeKeyCheckValue } from './key-check.js';
import type { KeyFile } from './key-file.js';

const NAME = 'sealing_keys';
const PLACE = 'accounts_meta/sealing_keys';
/** Time after which all nodes have reloaded the keys: a multiple of the reload interval. */
const SETTLE_MS = 3000;

/**
 * Encryption keys in the database that nodes share, encrypted with the master key, so that nodes
 * need no file. If the database has no keys yet, an existing key file is imported.
 */
export class SharedKeys implements KeyStore {
  readonly isShared = true;
  readonly #store: RelationalStore;
  readonly #secrets: SecretBox;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #file: KeyFile;

  constructor(deps: {
    readonly store: RelationalStore;
    readonly secrets: SecretBox;
    readonly random: Random;
    readonly clock: Clock;
    readonly file: KeyFile;
  }) {
    this.#store = deps.store;
    this.#secrets = deps.secrets;
    this.#random = deps.random;
    this.#clock = deps.clock;
    this.#file = deps.file;
  }

  /**
   * Stores keys and their key check value atomically, so that no node finds one without the other. Also
   * throws `key_file_foreign`: the key file shows that this node does not belong to the nodes of
   * this database.
   */
  async open({ hasData }: { readonly hasData: boolean }): Promise<EncryptionKeys> {
    const own = await this.#file.read();
    const path = this.#file.path;
    return await this.#store.transaction<AccountTables, EncryptionKeys>(async (tx) => {
      const storedCheckValue = await readKeyCheckValue(tx);
      const found = await this.read(tx);
      if (found === undefined && own === undefined && (hasData || storedCheckValue !== undefined)) {
        throw accountsError('key_file_missing', { path });
      }
      const keys = found ?? own ?? firstKeys(this.#random);
      const checkValue = storedCheckValue ?? (await storeKeyCheckValue(tx, keyCheckValueOf(keys)));
      if (own !== undefined && keyCheckValueOf(own) !== checkValue) {
        throw accountsError('key_file_foreign', { path });
      }
      if (keyCheckValueOf(keys) !== checkValue) throw accountsError('shared_keys_foreign');
      if (found === undefined) await this.#write(tx, keys);
      return keys;
    });
  }

  /** Returns the currently stored keys; `undefined` if there are none. */
  async read(
    on: Kysely<AccountTables> = this.#store.reader(),
  ): Promise<EncryptionKeys | undefined> {
    const row = await on
      .selectFrom('accounts_meta')
      .select('value')
      .where('name', '=', NAME)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const text = this.#secrets.open(Buffer.from(row.value, 'base64'), PLACE);
    const keys = decodeKeys(text);
    if (keys === undefined) throw accountsError('shared_keys_damaged');
    return keys;
  }

  /**
   * Before any node encrypts with the new key, every node can decrypt with it. When the promise resolves, no node
   * encrypts with the old key.
   */
  async addKey(
    known: EncryptionKeys,
  ): Promise<{ readonly keys: EncryptionKeys; readonly old: readonly string[] }> {
    let old: readonly string[] = [];
    const added = await this.#change((found = known) => {
      // An unused new key, from another node or an interrupted rotation, is activated instead of
      // creating another.
      const isBegun = newestOf(found) !== found.current;
      // The previously current key is kept until the next rotation, because another node may still
      // be processing rows or storing data encrypted with it.
      old = oldOf(found).filter((id) => !isBegun || id !== newestOf(found));
      return isBegun ? found : withNewKey(found, this.#random).keys;
    });
    const newest = newestOf(added);
    await this.#clock.sleep(SETTLE_MS);
    const keys = await this.#change((found = known) =>
      numberOf(found.current) > numberOf(newest) ? found : { ...found, current: newest },
    );
    await this.#clock.sleep(SETTLE_MS);
    return { keys, old };
  }

  async drop(known: EncryptionKeys, ids: readonly string[]): Promise<EncryptionKeys> {
    return await this.#change((found = known) => without(found, ids));
  }

  async #change(
    make: (found: EncryptionKeys | undefined) => EncryptionKeys,
  ): Promise<EncryptionKeys> {
    return await this.#store.transaction<AccountTables, EncryptionKeys>(async (tx) => {
      const keys = make(await this.read(tx));
      await this.#write(tx, keys);
      return keys;
    });
  }

  async #write(tx: Transaction<AccountTables>, keys: EncryptionKeys): Promise<void> {
    const value = Buffer.from(this.#secrets.seal(encodeKeys(keys), PLACE)).toString('base64');
    await tx
      .insertInto('accounts_meta')
      .values({ name: NAME, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}
