const MAX_TABLE_COUNT = 10_000;

/**
 * Tables of which a parser knows tag sets that the schema does not hold, because their first line was refused (or
 * the table was deleted since). For these the rows of a request must be looked at even when nothing in it is new.
 * Bounded: beyond `MAX_TABLE_COUNT` every table is doubtful, which costs time and nothing else.
 */
export class UnverifiedTables {
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

/** Neither kind of name can hold a NUL. */
function key(database: string, table: string): string {
  return `${database}\0${table}`;
}
