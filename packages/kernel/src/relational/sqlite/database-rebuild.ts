import Database from 'libsql';
import { findFaults, linesOf, MOST_FAULTS, quoteText, rowsOf } from './database-check.js';

/** A rebuild must see all faults. */
const MOST_FAULTS_SORTED = 1000;

/**
 * Writes all tables of the database at `path` to the file `to` and creates their indexes, provided that only indexes and free
 * pages are corrupt. Returns the faults that prevent it. Afterwards the journal is empty, so the file is complete.
 */
export async function rebuild(path: string, to: string): Promise<readonly string[]> {
  const database = new Database(path);
  try {
    database.pragma('busy_timeout = 5000');
    const corrupt = await corruptTables(database);
    if (corrupt.length > 0) return corrupt;
    const [checkpoint] = await rowsOf<{ busy: number }>(
      database,
      'PRAGMA wal_checkpoint(TRUNCATE)',
    );
    if (checkpoint?.busy !== 0)
      throw new Error('cannot checkpoint the journal: another process uses the database');
    await copyTables(database, to);
  } finally {
    database.close();
  }
  const fresh = new Database(to);
  try {
    return await findFaults(fresh, true);
  } finally {
    fresh.close();
  }
}

async function copyTables(database: Database.Database, to: string): Promise<void> {
  const objects = await rowsOf<{ type: string; name: string; sql: string }>(
    database,
    'SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid',
  );
  const [page] = await rowsOf<{ page_size: number }>(database, 'PRAGMA page_size');
  const [run] = await rowsOf<{ user_version: number }>(database, 'PRAGMA user_version');
  database.exec(`ATTACH ${quoteText(to)} AS fresh`);
  database.exec(`PRAGMA fresh.page_size = ${page?.page_size}`);
  database.exec(`PRAGMA fresh.user_version = ${run?.user_version}`);
  database.pragma('foreign_keys = OFF');
  database.exec('BEGIN');
  for (const { type, name, sql } of objects) {
    if (type !== 'table' || name.startsWith('sqlite_')) continue;
    database.exec(inFresh(sql, 'TABLE'));
    copyRows(database, name);
  }
  // SQLite creates this table with the first AUTOINCREMENT column. It is copied after the rows, because inserts change it.
  if (objects.some(({ name }) => name === SEQUENCES)) {
    database.exec(`DELETE FROM fresh.${SEQUENCES}`);
    copyRows(database, SEQUENCES);
  }
  for (const { type, sql } of objects) {
    if (type === 'index') database.exec(inFresh(sql, '(?:UNIQUE +)?INDEX'));
    else if (type !== 'table')
      throw new Error(`unsupported schema object ${type}; restore a snapshot or backup`);
  }
  database.exec('COMMIT');
  database.exec('DETACH fresh');
}

/** The highest id of each AUTOINCREMENT column; ids up to it are never reused. */
const SEQUENCES = 'sqlite_sequence';

/** Ordered by an expression, so that SQLite reads the table itself and not an index. */
function copyRows(database: Database.Database, table: string): void {
  const quoted = quoteName(table);
  database.exec(
    `INSERT INTO fresh.${quoted} SELECT * FROM main.${quoted} NOT INDEXED ORDER BY 1 + 0`,
  );
}

/** Returns the faults in trees with rows, and faults that cannot be attributed. */
async function corruptTables(database: Database.Database): Promise<readonly string[]> {
  const faults = await linesOf(database, `PRAGMA quick_check(${MOST_FAULTS_SORTED})`);
  if (faults.length >= MOST_FAULTS_SORTED) return faults.slice(0, MOST_FAULTS);
  const roots = await rowsOf<{ rootpage: number }>(
    database,
    "SELECT rootpage FROM sqlite_master WHERE type = 'index'",
  );
  const indexes = new Set(roots.map(({ rootpage }) => Number(rootpage)));
  const isHarmless = (fault: string): boolean => {
    if (fault === 'ok' || /^(Freelist:|Page \d+: never used)/.test(fault)) return true;
    const tree = /^Tree (\d+) /.exec(fault)?.[1];
    return tree !== undefined && indexes.has(Number(tree));
  };
  return faults.filter((fault) => !isHarmless(fault)).slice(0, MOST_FAULTS);
}

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `sqlite_master` contains statements in the form `CREATE TABLE name ...` or `CREATE [UNIQUE] INDEX name ...`. */
const inFresh = (sql: string, kind: string): string =>
  sql.replace(new RegExp(`^(CREATE +${kind} +)`, 'i'), '$1fresh.');
