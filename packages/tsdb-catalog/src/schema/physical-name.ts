/**
 * Prefixes of all columns that Plinth adds to segments, DuckDB tables and generated SQL, such as
 * `_seq_rank`. No client column has such a name in DuckDB, not even one created by an earlier
 * version. Do not add a prefix: existing columns keep their names and may start with it.
 */
const HELPER_PREFIXES = ['_series', '_seq'];
/** Columns that DuckDB adds to tables and files. */
const DUCKDB_NAMES = new Set(['rowid', 'filename', 'file_row_number', 'file_index']);

/**
 * Chooses the name of a column inside DuckDB: the user's own if possible, otherwise `<id>~<name>`.
 * `takenFolds` contains `foldName` of the table's existing physical names.
 */
export function choosePhysicalName(
  column: { readonly name: string; readonly id: number },
  takenFolds: ReadonlySet<string>,
): string {
  // DuckDB's names are C strings.
  const name = column.name.replaceAll('\0', '\u{fffd}');
  if (!isReserved(name) && !takenFolds.has(foldName(name))) return name;
  let candidate = `${column.id}~${name}`;
  while (takenFolds.has(foldName(candidate))) candidate = `~${candidate}`;
  return candidate;
}

/**
 * At least as coarse as DuckDB's own case folding: names that DuckDB considers equal have the same
 * fold. Upper case comes first, because lower case distinguishes a final sigma from an inner one.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase();
}

function isReserved(name: string): boolean {
  const fold = foldName(name);
  return DUCKDB_NAMES.has(fold) || HELPER_PREFIXES.some((prefix) => fold.startsWith(prefix));
}
