/** The maximum number of reported faults; a single fault stops the startup. */
export const MOST_FAULTS = 20;

/** A connection of the driver, in its synchronous or promise version. */
export interface DriverConnection {
  prepare(sql: string): DriverStatement | Promise<DriverStatement>;
}
interface DriverStatement {
  all(): unknown;
}

/**
 * Returns the faults found by `PRAGMA quick_check`, or by `integrity_check` and `foreign_key_check`. Throws SQLite
 * errors.
 */
export async function findFaults(database: DriverConnection, isFull: boolean): Promise<string[]> {
  const pragma = isFull ? 'integrity_check' : 'quick_check';
  const faults = (await linesOf(database, `PRAGMA ${pragma}(${MOST_FAULTS})`)).filter(
    (text) => text !== 'ok',
  );
  if (isFull && faults.length === 0) {
    const missing = await rowsOf<{ table: string }>(database, 'PRAGMA foreign_key_check');
    const tables = [...new Set(missing.map(({ table }) => table))].slice(0, MOST_FAULTS);
    faults.push(...tables.map((table) => `rows of ${table} reference missing rows`));
  }
  return faults;
}

/** Copies the committed state to the file `to`, which must be missing or empty. */
export const vacuumInto = (to: string): string => `VACUUM INTO ${quoteText(to)}`;

export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export async function rowsOf<Row>(database: DriverConnection, sql: string): Promise<Row[]> {
  const statement = await database.prepare(sql);
  return (await statement.all()) as Row[]; // the caller defines the columns of its statement
}

/** Returns one fault per line, because SQLite returns several faults in one row. */
export async function linesOf(database: DriverConnection, pragma: string): Promise<string[]> {
  const rows = await rowsOf<Record<string, string>>(database, pragma);
  return rows
    .flatMap((row) => String(Object.values(row)[0]).split('\n'))
    .filter((line) => line !== '' && !line.startsWith('***'));
}
