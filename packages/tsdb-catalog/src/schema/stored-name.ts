/**
 * Encodes names for the relational store: SQLite's driver cuts strings at NUL and PostgreSQL
 * rejects it, but a column name may contain one. The escapes are `\0` (NUL) and `\\` (backslash).
 */
export function toStoredName(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

export function fromStoredName(stored: string): string {
  return stored.replace(/\\(.)/g, (_, escaped) => (escaped === '0' ? '\0' : escaped));
}
