/** Removes all permissions of other users from new files. */
const OWNER_ALONE = 0o077;

/**
 * Makes all files and folders created from here on private to the user, regardless of the shell's umask. This includes files of
 * SQLite, DuckDB and plugins, which run as child processes.
 */
export function keepToItself(): void {
  process.umask(OWNER_ALONE);
}
