import { errorCatalogue } from '../errors/domain-error.js';

/** Expected failures of files and folders, apart from a full disk. */
export const fileError = errorCatalogue('FileError', {
  /**
   * It is unknown whether written bytes are on stable storage. The kernel may have dropped them
   * and reported that only once, so a second sync that succeeds proves nothing: never sync this file again.
   */
  sync_failed: (path: string) => `sync failed: ${path}`,
  /** Another server or command holds the folder. */
  folder_in_use: ({
    folder,
    owner,
  }: {
    readonly folder: string;
    readonly owner: string | undefined;
  }) =>
    `the folder ${folder} is in use by another process${owner === undefined ? '' : ` (${owner})`}; stop it and wait until it has ended, or name another folder`,
  /** The lock could not be tested; `why` is the system's error. */
  folder_not_locked: ({ folder, why }: { readonly folder: string; readonly why: string }) =>
    `the folder ${folder} cannot be locked: ${why}; this process must be allowed to write there, and the file system must know locks`,
});
