import { type Command, Option } from 'commander';
import { callOk, connectionOf, databaseOf } from '../connection.js';
import { print } from './terminal.js';

/** How the server draws an answer without rows. */
const NO_ROWS = '++\n++';

type Row = Readonly<Record<string, unknown>>;

/** Adds `--format` to a command that shows something: for people, or JSON for programs. */
export const withFormat = (command: Command): Command => withFormats(command, ['pretty', 'json']);

/** The same where the server writes the answer, which knows more of them. */
export const withQueryFormat = (command: Command): Command =>
  withFormats(command, ['pretty', 'json', 'jsonl', 'csv']);

function withFormats(command: Command, choices: readonly string[]): Command {
  const option = new Option('-f, --format <format>', 'how it is shown');
  return command.addOption(option.choices(choices).default('pretty'));
}

/** A list: as a table of some columns, or all that is known of each as an array. */
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

/** One thing: as `text`, or as JSON of many lines without one. */
export function printOne(command: Command, value: unknown, text?: () => string): void {
  if (isJson(command)) printJson(value);
  else print(text?.() ?? `${JSON.stringify(value, null, 2)}\n`);
}

/** What an answer holds: its own bytes as JSON, so that no digit of a number is lost. */
export async function printAnswer(command: Command, answer: Response): Promise<void> {
  const text = await answer.text();
  if (isJson(command)) print(`${text.trimEnd()}\n`);
  else print(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
}

/** What SQL finds. @param db without it the database that the command names */
export async function printQuery(
  command: Command,
  { db, q }: { readonly db?: string; readonly q: string },
): Promise<void> {
  print(await runQuery(command, { q, ...(db !== undefined && { db }) }));
}

/** The same as text. */
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
  // A table without rows has no columns: they are named as those of other lists are.
  return text === NO_ROWS ? formatTable([(await request('csv')).split(',')]) : `${text}\n`;
}

export const isJson = (command: Command): boolean => command.opts()['format'] === 'json';

/** Columns as wide as their widest cell, one line per row. */
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
