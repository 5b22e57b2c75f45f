/** What others than the owner may do with a new file: nothing. */
const OWNER_ALONE = 0o077;

/**
 * Files and folders that the program makes from here on are for its own user alone, whatever the shell's umask: those of SQLite and
 * DuckDB as well, and those of plugins, which are children.
 */
export function keepToItself(): void {
  process.umask(OWNER_ALONE);
}
