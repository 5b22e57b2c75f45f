import { errorCatalogue } from '@plinth/kernel';

/** Errors that stop startup. */
export const accountsError = errorCatalogue('AccountsError', {
  /**
   * Without the key, stored id numbers cannot be decrypted. Creating a new key would hide this
   * problem.
   */
  key_file_damaged: (details: { readonly path: string }) =>
    `the key file ${details.path} is corrupt; restore a copy of it, for example from a backup`,
  /** The data was restored without its key, for example from a backup without it. */
  key_file_missing: (details: { readonly path: string }) =>
    `the key file ${details.path} is missing, but accounts exist; restore the file. If nodes share a database, ` +
    'start the node that has the file first: it stores the keys in the database for all nodes',
  /** The data folder comes from another installation. */
  key_file_foreign: (details: { readonly path: string }) =>
    `the key file ${details.path} belongs to a different installation than the accounts in the database. If this node should use that database, remove the file from this data folder; nodes that share a database need no file`,
  /** The keys were decrypted with the master key, but are not valid. */
  shared_keys_damaged:
    'the keys in the database (accounts_meta, sealing_keys) are corrupt; restore the database from a backup',
  /** The key row comes from a different database than the other rows. */
  shared_keys_foreign:
    'the keys in the database (accounts_meta, sealing_keys) do not match its accounts; restore the complete database from a backup',
  /** A preset key is not valid. The message never contains it. */
  bootstrap_keys_invalid: (why: string) => `accounts.bootstrap_keys: ${why}`,
});
