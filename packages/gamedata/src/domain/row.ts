/**
 * One record in memory: its text as stored, and of its members only what filters, sorting and relations ask for. A row
 * never changes; data sets share the rows that they have in common.
 */
export interface Row {
  readonly id: string;
  readonly slug: string;
  /** Number of the change that made it. */
  readonly rev: number;
  /** Stored record as JSON. */
  readonly text: string;
  /** Columns of its kind. */
  readonly columns: Columns;
}

export type Columns = Readonly<Record<string, unknown>>;

export function textColumn(row: Row, name: string): string | null {
  const value = row.columns[name];
  return typeof value === 'string' ? value : null;
}

export function numberColumn(row: Row, name: string): number | null {
  const value = row.columns[name];
  return typeof value === 'number' ? value : null;
}

/** A column that its kind declares as a list. */
export function listColumn<T = string>(row: Row, name: string): readonly T[] {
  const value = row.columns[name];
  return Array.isArray(value) ? value : [];
}
