import { errorCatalogue } from '@plinth/kernel';

export { AccountsRefused } from './model/violation.js';

/** What stops the start. */
export const accountsError = errorCatalogue('AccountsError', {
  /** Without the key the stored numbers of ids cannot be read, and a new key would hide that. */
  key_file_damaged: (at: { readonly path: string }) =>
    `the key file ${at.path} is damaged; put back a copy of it`,
  /** The data came without their key, as from a backup that left it out. */
  key_file_missing: (at: { readonly path: string }) =>
    `there are accounts, but not the key file ${at.path} that they need; put it back, or, when this is ` +
    'a new node of a shared database, copy it from the data folder of the first node',
  /** Several nodes seal with one file. */
  key_file_foreign: (at: { readonly path: string }) =>
    `the key file ${at.path} is that of another installation: the accounts in the database were begun with another one; copy it from the data folder of the first node`,
  /** A preset key cannot be used. The text never holds it. */
  bootstrap_keys_invalid: (why: string) => `accounts.bootstrap_keys: ${why}`,
});
