import { type Command, Option } from 'commander';
import { callOk, connectionOf, databaseOf } from '../connection.js';
import { print } from './terminal.js';

/** What the server prints as a table for an empty result. */
const NO_ROWS = '++\n++';

type Row = Readonly<Record<string, unknown>>;

/** Adds `--format` to a command that prints results: a table, or JSON for programs. */
export const withFormat = (command: Command): Command => withFormats(command, ['pretty', 'json']);

/** Like `withFormat`, with more formats, for results that the server formats. */
export const withQueryFormat = (command: Command): Command =>
  withFormats(command, ['pretty', 'json', 'jsonl', 'csv']);

function withFormats(command: Command, choices: readonly string[]): Command {
  const option = new Option('-f, --format <format>', 'output format');
  return command.addOption(option.choices(choices).default('pretty'));
}

/** Prints a list as a table of selected columns, or as a JSON array with all fields. */
export function printRows(
  command: Command,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => unknown>> | readonly string[],
): void {
  if (isJson(command)) {
    printJson(rows);
    return;
  }
  const cells = Array.isArray(columns)
    ? columns.map((name: string) => [name, (row: Row) => row[name]] as const)
    : Object.entries(columns as Readonly<Record<string, (row: Row) => unknown>>);
  const headline = cells.map(([name]) => name);
  print(formatTable([headline, ...rows.map((row) => cells.map(([, of]) => cellOf(of(row))))]));
}

/** Prints one item as `text`, as indented JSON without `text`, or as JSON on one line. */
export function printOne(command: Command, value: unknown, text?: () => string): void {
  if (isJson(command)) printJson(value);
  else print(text?.() ?? `${JSON.stringify(value, null, 2)}\n`);
}

/** Prints a response body. JSON is copied verbatim to keep all digits of numbers. */
export async function printResponse(command: Command, response: Response): Promise<void> {
  const text = await response.text();
  if (isJson(command)) print(`${text.trimEnd()}\n`);
  else print(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
}

/** Prints the result of a SQL query. @param db default: the database of the command's options */
export async function printQuery(
  command: Command,
  { db, q }: { readonly db?: string; readonly q: string },
): Promise<void> {
  print(await runQuery(command, { q, ...(db !== undefined && { db }) }));
}

/** Runs a query and returns the result as a string. */
async function runQuery(
  command: Command,
  { db, q }: { readonly db?: string; readonly q: string },
): Promise<string> {
  const connection = connectionOf(command.opts());
  const request = async (format: unknown): Promise<string> => {
    const json = { db: db ?? databaseOf(connection), q, format };
    return (await (await callOk(connection, 'api/v3/query_sql', { json })).text()).trimEnd();
  };
  const text = await request(isJson(command) ? 'json_rows' : command.opts()['format']);
  if (text === '') return '';
  // An empty table has no columns in the response; show the column names as other lists do.
  return text === NO_ROWS ? formatTable([(await request('csv')).split(',')]) : `${text}\n`;
}

export const isJson = (command: Command): boolean => command.opts()['format'] === 'json';

/** Pads columns to their widest cell, one line per row. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  return Array.isArray(value) ? value.join(',') || '-' : String(value);
}

export function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`);
}
