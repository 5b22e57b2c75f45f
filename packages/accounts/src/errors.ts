export { AccountsRefused } from './model/violation.js';

/** Stops the start: without the key the stored numbers of ids cannot be read, and a new key would hide that. */
export class KeyFileDamaged extends Error {
  override readonly name = 'KeyFileDamaged';
  readonly kind = 'key_file_damaged';
  constructor(at: { path: string }) {
    super(`the key file ${at.path} is damaged; put back a copy of it`);
  }
}

/** Stops the start: the data came without their key, as from a backup that left it out. */
export class KeyFileMissing extends Error {
  override readonly name = 'KeyFileMissing';
  readonly kind = 'key_file_missing';
  constructor(at: { path: string }) {
    super(
      `there are accounts, but not the key file ${at.path} that they need; put it back, or, when this is ` +
        'a new node of a shared database, copy it from the data folder of the first node',
    );
  }
}

/** Stops the start: a preset key cannot be used. The message never holds it. */
export class BootstrapKeysInvalid extends Error {
  override readonly name = 'BootstrapKeysInvalid';
  readonly kind = 'bootstrap_keys_invalid';
  constructor(why: string) {
    super(`accounts.bootstrap_keys: ${why}`);
  }
}
