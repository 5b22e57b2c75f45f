import { errorCatalogue } from '../errors/domain-error.js';

/** Expected failures of files and folders, apart from a full disk. */
export const fileError = errorCatalogue('FileError', {
  /**
   * It is unknown whether written bytes are on stable storage. The operating system may have dropped them and
   * reported the error only once, so a later successful sync proves nothing. Never sync this file again.
   */
  sync_failed: (path: string) => `sync failed: ${path}`,
  /** Another server or command has locked the folder. */
  folder_in_use: ({
    folder,
    owner,
  }: {
    readonly folder: string;
    readonly owner: string | undefined;
  }) =>
    `the folder ${folder} is in use by another process${owner === undefined ? '' : ` (${owner})`}; stop that process and wait until it has exited, or use another folder`,
  /** The lock could not be tested. `why` is the system error. */
  folder_not_locked: ({ folder, why }: { readonly folder: string; readonly why: string }) =>
    `the folder ${folder} cannot be locked: ${why}; check write permission, and whether the file system supports locks`,
});
