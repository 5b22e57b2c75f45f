import Database from 'libsql';
import { assertNever } from '../../errors/invariant.js';

/** More are not reported: one is enough to stop a start. */
const MOST_FAULTS = 20;
/** A rebuild has to see them all. */
const MOST_FAULTS_SORTED = 1000;

/** Work on a database file that a thread of its own does, once. */
export type DatabaseTask =
  /** Reads the structure of all pages; `isFull`: compares indexes with their tables and looks for missing references, too. */
  | { readonly task: 'check'; readonly path: string; readonly isFull: boolean }
  /** Copies what is committed at one moment to the file `to`, which is missing or empty. */
  | { readonly task: 'copy'; readonly path: string; readonly to: string }
  /** Writes all tables to the file `to` and makes their indexes anew, if nothing but indexes and free pages is damaged. */
  | { readonly task: 'rebuild'; readonly path: string; readonly to: string };

export interface TaskResult {
  /** What is wrong with the database, as SQLite words it; empty: nothing. */
  readonly faults: readonly string[];
}

export function runDatabaseTask(task: DatabaseTask): TaskResult {
  let database: Database.Database | undefined;
  try {
    database = new Database(task.path);
    database.pragma('busy_timeout = 5000');
    switch (task.task) {
      case 'check':
        return { faults: findFaults(database, task.isFull) };
      case 'copy':
        database.exec(`VACUUM INTO ${quoteText(task.to)}`);
        return { faults: [] };
      case 'rebuild':
        return { faults: rebuild(database, task) };
      default:
        return assertNever(task);
    }
  } catch (error) {
    return { faults: [error instanceof Error ? error.message : String(error)] };
  } finally {
    database?.close();
  }
}

/** What `PRAGMA quick_check` finds, or `integrity_check` and `foreign_key_check`. Throws what SQLite throws. */
export function findFaults(database: Database.Database, isFull: boolean): string[] {
  const faults = rowsOf(
    database,
    isFull ? `PRAGMA integrity_check(${MOST_FAULTS})` : `PRAGMA quick_check(${MOST_FAULTS})`,
  ).filter((text) => text !== 'ok');
  if (isFull && faults.length === 0) {
    const missing = database.prepare('PRAGMA foreign_key_check').all() as { table: string }[];
    const tables = [...new Set(missing.map(({ table }) => table))].slice(0, MOST_FAULTS);
    faults.push(...tables.map((table) => `rows of ${table} refer to rows that are missing`));
  }
  return faults;
}

/** Returns why it was not done. The journal is empty afterwards, so that the file alone is the database. */
function rebuild(
  database: Database.Database,
  { to }: DatabaseTask & { readonly task: 'rebuild' },
): string[] {
  const damaged = damagedTables(database);
  if (damaged.length > 0) return damaged;
  const [checkpoint] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as {
    busy: number;
  }[];
  if (checkpoint?.busy !== 0) return ['its journal cannot be emptied'];
  const objects = database
    .prepare('SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid')
    .all() as { type: string; name: string; sql: string }[];
  const [{ page_size: pageSize }] = database.prepare('PRAGMA page_size').all() as [
    { page_size: number },
  ];
  const [{ user_version: run }] = database.prepare('PRAGMA user_version').all() as [
    { user_version: number },
  ];
  database.exec(`ATTACH ${quoteText(to)} AS fresh`);
  database.exec(`PRAGMA fresh.page_size = ${pageSize}`);
  database.exec(`PRAGMA fresh.user_version = ${run}`);
  database.pragma('foreign_keys = OFF');
  database.exec('BEGIN');
  for (const { type, name, sql } of objects) {
    if (type !== 'table' || name.startsWith('sqlite_')) continue;
    const quoted = quoteName(name);
    database.exec(inFresh(sql, 'TABLE'));
    // Ordered by an expression, so that SQLite reads the table itself and copies no index.
    database.exec(
      `INSERT INTO fresh.${quoted} SELECT * FROM main.${quoted} NOT INDEXED ORDER BY 1 + 0`,
    );
  }
  for (const { type, sql } of objects) {
    if (type === 'index') database.exec(inFresh(sql, '(?:UNIQUE +)?INDEX'));
    else if (type !== 'table') throw new Error(`its ${type}s cannot be made anew`);
  }
  database.exec('COMMIT');
  database.exec('DETACH fresh');
  const fresh = new Database(to);
  try {
    return findFaults(fresh, true);
  } finally {
    fresh.close();
  }
}

/** Faults of trees that hold rows, or that nobody can attribute. */
function damagedTables(database: Database.Database): string[] {
  const faults = rowsOf(database, `PRAGMA quick_check(${MOST_FAULTS_SORTED})`);
  if (faults.length >= MOST_FAULTS_SORTED) return faults.slice(0, MOST_FAULTS);
  const indexes = new Set(
    (
      database.prepare("SELECT rootpage FROM sqlite_master WHERE type = 'index'").all() as {
        rootpage: number;
      }[]
    ).map(({ rootpage }) => Number(rootpage)),
  );
  const isHarmless = (fault: string): boolean => {
    if (fault === 'ok' || /^(Freelist:|Page \d+: never used)/.test(fault)) return true;
    const tree = /^Tree (\d+) /.exec(fault)?.[1];
    return tree !== undefined && indexes.has(Number(tree));
  };
  return faults.filter((fault) => !isHarmless(fault)).slice(0, MOST_FAULTS);
}

/** One fault a line: SQLite puts several in one row. */
function rowsOf(database: Database.Database, pragma: string): string[] {
  const rows = database.prepare(pragma).all() as Record<string, string>[];
  return rows
    .flatMap((row) => String(Object.values(row)[0]).split('\n'))
    .filter((line) => line !== '' && !line.startsWith('***'));
}

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `sqlite_master` has every statement as `CREATE TABLE name ...` or `CREATE [UNIQUE] INDEX name ...`. */
const inFresh = (sql: string, kind: string): string =>
  sql.replace(new RegExp(`^(CREATE +${kind} +)`, 'i'), '$1fresh.');
