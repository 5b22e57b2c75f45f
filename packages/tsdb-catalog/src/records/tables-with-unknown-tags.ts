const MAX_TABLE_COUNT = 10_000;

/**
 * Tables for which a parser has registered tag sets that the schema does not contain, because their
 * first line was rejected or the table was deleted. Rows for these tables must be checked even if a
 * request contains nothing new. Above `MAX_TABLE_COUNT`, every table counts as having unknown tags,
 * which costs only time.
 */
export class TablesWithUnknownTags {
  readonly #tables = new Set<string>();

  has(database: string, table: string): boolean {
    return this.#tables.size > 0 && (this.#isFull() || this.#tables.has(key(database, table)));
  }

  add(database: string, table: string): void {
    if (!this.#isFull()) this.#tables.add(key(database, table));
  }

  #isFull(): boolean {
    return this.#tables.size >= MAX_TABLE_COUNT;
  }
}

/** Neither name can contain NUL. */
function key(database: string, table: string): string {
  return `${database}\0${table}`;
}
