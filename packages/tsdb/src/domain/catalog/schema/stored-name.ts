/**
 * Names as they stand in the relational store: SQLite's driver cuts text at a NUL and PostgreSQL refuses it, but a
 * column name may hold one. A backslash begins `\0` (NUL) or `\\` (itself).
 */
export function toStoredName(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}

export function fromStoredName(stored: string): string {
  return stored.replace(/\\(.)/g, (_, escaped) => (escaped === '0' ? '\0' : escaped));
}
