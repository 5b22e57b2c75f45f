import type { Clock, Random, RelationalStore, SecretBox } from '@plinth/kernel';
import type { Kysely, Transaction } from 'kysely';
import { accountsError } from '../../errors.js';
import type { AccountTables } from '../account-tables.js';
import type { SealingKeys } from '../sealer.js';
import { keepProof, proofOf, readProof } from './key-check.js';
import type { KeyFile } from './key-file.js';
import {
  decodeKeys,
  encodeKeys,
  firstKeys,
  type KeyKeeper,
  newestOf,
  numberOf,
  oldOf,
  withNewKey,
  without,
} from './sealing-keys.js';

const NAME = 'sealing_keys';
const PLACE = 'accounts_meta/sealing_keys';
/** A few times as long as every node needs to read the keys again. */
const SETTLE_MS = 3000;

/**
 * The keys that sealed texts need, in the database that nodes share, sealed with the master key: a node needs no file. Those of a
 * key file that is there when the database has none yet are taken over.
 */
export class SharedKeys implements KeyKeeper {
  readonly isShared = true;
  readonly #store: RelationalStore;
  readonly #secrets: SecretBox;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #file: KeyFile;

  constructor(needs: {
    readonly store: RelationalStore;
    readonly secrets: SecretBox;
    readonly random: Random;
    readonly clock: Clock;
    readonly file: KeyFile;
  }) {
    this.#store = needs.store;
    this.#secrets = needs.secrets;
    this.#random = needs.random;
    this.#clock = needs.clock;
    this.#file = needs.file;
  }

  /**
   * Keys and the proof of them are stored at once: no node finds one without the other, and stores keys that are refused later.
   * Throws also `key_file_foreign`: a file that came from elsewhere says that this node is not one of those that share the database.
   */
  async open({ hasData }: { readonly hasData: boolean }): Promise<SealingKeys> {
    const own = await this.#file.read();
    const path = this.#file.place;
    return await this.#store.transaction<AccountTables, SealingKeys>(async (tx) => {
      const kept = await readProof(tx);
      const found = await this.read(tx);
      if (found === undefined && own === undefined && (hasData || kept !== undefined)) {
        throw accountsError('key_file_missing', { path });
      }
      const keys = found ?? own ?? firstKeys(this.#random);
      const proof = kept ?? (await keepProof(tx, proofOf(keys)));
      if (own !== undefined && proofOf(own) !== proof) {
        throw accountsError('key_file_foreign', { path });
      }
      if (proofOf(keys) !== proof) throw accountsError('shared_keys_foreign');
      if (found === undefined) await this.#write(tx, keys);
      return keys;
    });
  }

  /** What is there now; `undefined`: nothing. */
  async read(on: Kysely<AccountTables> = this.#store.reader()): Promise<SealingKeys | undefined> {
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

  /** Every node can read what the key seals before any seals with it, and none seals with the old one when it resolves. */
  async addKey(
    known: SealingKeys,
  ): Promise<{ readonly keys: SealingKeys; readonly old: readonly string[] }> {
    let old: readonly string[] = [];
    const added = await this.#change((found = known) => {
      // A new key that is not in use yet, of another node or one that has ended, is taken into use.
      const isBegun = newestOf(found) !== found.current;
      // The key in use until now stays for the next rotation: another node may sweep for it, or still store what it sealed.
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

  async drop(known: SealingKeys, ids: readonly string[]): Promise<SealingKeys> {
    return await this.#change((found = known) => without(found, ids));
  }

  async #change(make: (found: SealingKeys | undefined) => SealingKeys): Promise<SealingKeys> {
    return await this.#store.transaction<AccountTables, SealingKeys>(async (tx) => {
      const keys = make(await this.read(tx));
      await this.#write(tx, keys);
      return keys;
    });
  }

  async #write(tx: Transaction<AccountTables>, keys: SealingKeys): Promise<void> {
    const value = Buffer.from(this.#secrets.seal(encodeKeys(keys), PLACE)).toString('base64');
    await tx
      .insertInto('accounts_meta')
      .values({ name: NAME, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }
}
