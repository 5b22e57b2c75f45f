import { errorCatalogue } from '@plinth/kernel';

export { AccountsRefused } from './model/violation.js';

/** What stops the start. */
export const accountsError = errorCatalogue('AccountsError', {
  /** Without the key the stored numbers of ids cannot be read, and a new key would hide that. */
  key_file_damaged: (at: { readonly path: string }) =>
    `the key file ${at.path} is damaged; put back a copy of it`,
  /** The data came without their key, as from a backup that left it out. */
  key_file_missing: (at: { readonly path: string }) =>
    `there are accounts, but not the key file ${at.path} that they need; put it back. Where nodes share a database ` +
    'start the node that has the file first: it stores the keys there for all',
  /** The folder came from another installation. */
  key_file_foreign: (at: { readonly path: string }) =>
    `the key file ${at.path} is that of another installation: the accounts in the database were begun with another one. Remove it from this data folder when the node belongs to that database; nodes that share one need no file`,
  /** The master key has opened them, and yet they are not whole. */
  shared_keys_damaged:
    'the keys in the database (accounts_meta, sealing_keys) are damaged; restore the database from a backup',
  /** The row of the keys came from elsewhere than the others. */
  shared_keys_foreign:
    'the keys in the database (accounts_meta, sealing_keys) are not those that its accounts were begun with; restore the database as a whole from a backup',
  /** A preset key cannot be used. The text never holds it. */
  bootstrap_keys_invalid: (why: string) => `accounts.bootstrap_keys: ${why}`,
});
