/** More are not reported: one is enough to stop a start. */
export const MOST_FAULTS = 20;

/** A connection of the driver, of its kind with promises or without. */
export interface DriverConnection {
  prepare(sql: string): DriverStatement | Promise<DriverStatement>;
}
interface DriverStatement {
  all(): unknown;
}

/** What `PRAGMA quick_check` finds, or `integrity_check` and `foreign_key_check`. Throws what SQLite throws. */
export async function findFaults(database: DriverConnection, isFull: boolean): Promise<string[]> {
  const pragma = isFull ? 'integrity_check' : 'quick_check';
  const faults = (await linesOf(database, `PRAGMA ${pragma}(${MOST_FAULTS})`)).filter(
    (text) => text !== 'ok',
  );
  if (isFull && faults.length === 0) {
    const missing = await rowsOf<{ table: string }>(database, 'PRAGMA foreign_key_check');
    const tables = [...new Set(missing.map(({ table }) => table))].slice(0, MOST_FAULTS);
    faults.push(...tables.map((table) => `rows of ${table} refer to rows that are missing`));
  }
  return faults;
}

/** Copies what is committed at one moment to the file `to`, which is missing or empty. */
export const vacuumInto = (to: string): string => `VACUUM INTO ${quoteText(to)}`;

export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export async function rowsOf<Row>(database: DriverConnection, sql: string): Promise<Row[]> {
  const statement = await database.prepare(sql);
  return (await statement.all()) as Row[]; // the caller names the columns that its statement returns
}

/** One fault a line: SQLite puts several in one row. */
export async function linesOf(database: DriverConnection, pragma: string): Promise<string[]> {
  const rows = await rowsOf<Record<string, string>>(database, pragma);
  return rows
    .flatMap((row) => String(Object.values(row)[0]).split('\n'))
    .filter((line) => line !== '' && !line.startsWith('***'));
}
