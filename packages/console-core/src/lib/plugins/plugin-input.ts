import { escapedKey, escapedTable, quotedText } from '@plinth/line-protocol';
import { quoteName } from '../query/identifiers.js';

/** The members of a table's columns that the functions below read. */
interface Column {
  readonly name: string;
  readonly kind: string;
}

type Row = Readonly<Record<string, unknown>>;

const EXACT: ReadonlySet<string> = new Set(['int64', 'uint64']);

/** Returns a query for the newest rows, with 64-bit integers and times as text. */
export function newestRowsQuery(table: string, columns: readonly Column[], count: number): string {
  const list = columns.map(({ name, kind }) => {
    const quoted = quoteName(name, 'sql');
    if (kind === 'time') return `CAST(CAST(${quoted} AS BIGINT) AS VARCHAR) AS ${quoted}`;
    return EXACT.has(kind) ? `CAST(${quoted} AS VARCHAR) AS ${quoted}` : quoted;
  });
  return `SELECT ${list.join(', ')} FROM ${quoteName(table, 'sql')} ORDER BY time DESC LIMIT ${count}`;
}

/** Formats rows of `newestRowsQuery` as line protocol, oldest first. */
export const linesOfRows = (
  table: string,
  columns: readonly Column[],
  rows: readonly Row[],
): string =>
  [...rows]
    .reverse()
    .map((row) => lineOf(table, columns, row))
    .join('\n');

function lineOf(table: string, columns: readonly Column[], row: Row): string {
  const present = columns.filter(({ name }) => row[name] !== null && row[name] !== undefined);
  const tags = present
    .filter(({ kind, name }) => kind === 'tag' && row[name] !== '')
    .map(({ name }) => `,${escapedKey(name)}=${escapedKey(String(row[name]))}`);
  const fields = present
    .filter(({ kind }) => kind !== 'tag' && kind !== 'time')
    .map(({ name, kind }) => `${escapedKey(name)}=${fieldText(row[name], kind)}`);
  const time = columns.find(({ kind }) => kind === 'time')?.name ?? 'time';
  return `${escapedTable(table)}${tags.join('')} ${fields.join(',')} ${row[time]}`;
}

function fieldText(value: unknown, kind: string): string {
  if (kind === 'int64') return `${value}i`;
  if (kind === 'uint64') return `${value}u`;
  return kind === 'utf8' ? quotedText(String(value)) : String(value);
}
