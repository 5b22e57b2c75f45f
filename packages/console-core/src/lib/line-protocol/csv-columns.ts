import type { ColumnGuess, CsvMapping, FieldType, TimeFormat } from '@plinth/line-protocol';
import { fieldTypeOf, type KnownColumns } from './schema-change.js';

export type Role = ColumnGuess['role'];
/** The user's choice for a column. */
export type Choice = Pick<ColumnGuess, 'role' | 'type'>;
export type Choices = ReadonlyMap<string, Choice>;

/**
 * Applies the user's choices before the table's columns, and these before the guesses. At most one column is the time.
 */
export function chooseColumns(
  guesses: readonly ColumnGuess[],
  known: KnownColumns | undefined,
  chosen: Choices,
): readonly ColumnGuess[] {
  const kinds = new Map(known?.map(({ name, kind }) => [name, kind]));
  const columns = guesses.map((guess) => ({
    ...guess,
    ...(guess.role === 'out' ? {} : choiceOf(kinds.get(guess.name))),
    ...chosen.get(guess.name),
  }));
  const times = columns.filter(({ role }) => role === 'time');
  const time =
    times.find(({ name }) => chosen.has(name)) ??
    times.find(({ name }) => kinds.has(name)) ??
    times[0];
  return columns.map((column) =>
    column.role === 'time' && column !== time ? { ...column, role: 'field' as const } : column,
  );
}

function choiceOf(kind: string | undefined): Partial<Choice> {
  if (kind === undefined) return {};
  if (kind === 'time' || kind === 'tag') return { role: kind };
  const type = fieldTypeOf(kind);
  return type === undefined ? {} : { role: 'field', type };
}

/** Changes the choice for a column. If another column becomes the time, the previous one becomes a field. */
export function choose(chosen: Choices, name: string, choice: Choice): Choices {
  const before = [...chosen].map(([other, was]): readonly [string, Choice] =>
    choice.role === 'time' && was.role === 'time'
      ? [other, { ...was, role: 'field' }]
      : [other, was],
  );
  return new Map([...before, [name, choice]]);
}

/** Returns `undefined` when no column is a field, because a point needs one. */
export function mappingOf(
  columns: readonly ColumnGuess[],
  options: { readonly table: string; readonly timeFormat: TimeFormat },
): CsvMapping | undefined {
  const named = (role: Role) =>
    columns.filter((column) => column.role === role).map(({ name }) => name);
  const fields = columns
    .filter(({ role }) => role === 'field')
    .map(({ name, type }): readonly [string, FieldType] => [name, type]);
  if (fields.length === 0 || options.table === '') return undefined;
  return { ...options, tags: named('tag'), fields: new Map(fields), time: named('time')[0] };
}

/** Returns the file name without extensions, and without characters that would need quotes in a query. */
export const tableNameOf = (fileName: string): string =>
  fileName
    .replace(/(?:\.csv|\.tsv|\.txt)+$/i, '')
    .replace(/[^\p{L}\p{N}_]+/gu, '_')
    .replace(/^_+|_+$/g, '');

/** Returns the equivalent command line. */
export function commandOf(
  mapping: CsvMapping,
  options: { readonly db: string; readonly file: string },
) {
  const { table, tags, fields, time, timeFormat } = mapping;
  const typed = [...fields].map(([name, type]) => `${name}:${type}`);
  return [
    `plinth write -d ${shellWord(options.db)} --csv --table ${shellWord(table)}`,
    ...(tags.length > 0 ? [`--tag ${listWord(tags)}`] : []),
    `--field ${listWord(typed)}`,
    ...(time === undefined ? [] : [`--time ${shellWord(time)} --time-format ${timeFormat}`]),
    shellWord(options.file),
  ].join(' ');
}

/** Formats a list of names in the form that the command accepts. */
const listWord = (names: readonly string[]): string =>
  shellWord(names.map((name) => name.replaceAll(/[\\,]/g, '\\$&')).join(','));

const shellWord = (text: string): string =>
  /^[\w.,:@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
