/** Removes all permissions of other users from new files. */
const NO_OTHER_USERS = 0o077;

/**
 * Makes all files and folders created from here on private to the user, regardless of the shell's umask. This includes files of
 * SQLite, DuckDB and plugins, which run as child processes.
 */
export function restrictUmask(): void {
  process.umask(NO_OTHER_USERS);
}
