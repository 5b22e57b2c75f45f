/** The engine's own columns and pseudo columns; `_s...` names start with these, whatever follows. */
const PRIVATE_PREFIXES = ['_series', '_seq'];
const PRIVATE_NAMES = new Set(['rowid', 'filename', 'file_row_number', 'file_index']);

/**
 * Chooses the name of a column inside the engine: the user's own when nothing stands against it, otherwise
 * `<id>~<name>`. `takenFolds` holds `foldName` of the physical names of the table so far.
 */
export function choosePhysicalName(
  column: { readonly name: string; readonly id: number },
  takenFolds: ReadonlySet<string>,
): string {
  // The engine's names are C strings.
  const name = column.name.replaceAll('\0', '\u{fffd}');
  if (!isPrivate(name) && !takenFolds.has(foldName(name))) return name;
  let candidate = `${column.id}~${name}`;
  while (takenFolds.has(foldName(candidate))) candidate = `~${candidate}`;
  return candidate;
}

/**
 * At least as coarse as the engine's own folding: two names that it takes for one have the same fold. Upper case
 * first, because lower case alone tells a final sigma from an inner one.
 */
export function foldName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase();
}

function isPrivate(name: string): boolean {
  const fold = foldName(name);
  return PRIVATE_NAMES.has(fold) || PRIVATE_PREFIXES.some((prefix) => fold.startsWith(prefix));
}
