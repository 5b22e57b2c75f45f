import type { SchemaTable } from './completion.js';
import { quoteName, quoteText } from './identifiers.js';
import { type Language, RANGE_CONDITION } from './macros.js';
import { calledBy, parted, type Token, tokensOf } from './tokens.js';

/** A value of a result column; `null` for a missing value. */
export interface ColumnValue {
  readonly column: string;
  /** The displayed text, with all digits. */
  readonly text: string | null;
}

/** A statement with one more condition. When the change could alter its meaning, only the condition is returned. */
export type FilterEdit =
  | { readonly kind: 'edited'; readonly text: string; readonly added: string }
  | { readonly kind: 'unsafe'; readonly condition: string; readonly why: string };

interface ConditionTarget {
  readonly language: Language;
  readonly schema: readonly SchemaTable[];
  readonly columnValues: readonly ColumnValue[];
  /** If true, the rows with this value are excluded. */
  readonly isOut: boolean;
}

/** The table name of an InfluxQL row, which cannot be used in a condition. */
export const MEASUREMENT = 'iox::measurement';
/** The keywords that end FROM and WHERE. */
const ENDS = new Set(
  'group having order limit offset slimit soffset window qualify fetch tz fill'.split(' '),
);
/** After these keywords, an AND would bind to the preceding expression, so the condition is put in parentheses. */
const LOOSE = new Set(['or', 'distinct']);
const SETS = new Set(['union', 'intersect', 'except']);

/** Adds conditions on result columns to the WHERE clause. `undefined` when the language has no condition for such a value. */
export function addCondition(typed: string, target: ConditionTarget): FilterEdit | undefined {
  const { language, columnValues, isOut } = target;
  const parsed = parse(typed, language);
  const table = typeof parsed === 'string' ? undefined : parsed.table;
  const columns = target.schema.find(({ name }) => name === table)?.columns ?? [];
  const conditions: string[] = [];
  let why = typeof parsed === 'string' ? parsed : undefined;
  for (const each of columnValues) {
    if (each.column === MEASUREMENT) continue;
    const source = typeof parsed === 'string' ? undefined : sourceOf(each.column, parsed, columns);
    const column = columns.find(({ name }) => name === source);
    if (column === undefined) why ??= `${each.column} is computed, or its table is unknown`;
    const of = { name: source ?? each.column, kind: column?.kind ?? 'utf8' };
    const condition = conditionOf(of, each.text, { language, isOut });
    if (condition === undefined) return undefined;
    conditions.push(condition);
  }
  if (conditions.length === 0) return undefined;
  const condition = conditions.join(' AND ');
  if (typeof parsed === 'string' || why !== undefined)
    return { kind: 'unsafe', condition, why: why ?? '' };
  return { kind: 'edited', ...inserted(typed, parsed, condition) };
}

/** Adds the page's time range to the WHERE clause. */
export function addRange(
  typed: string,
  { language, schema }: Pick<ConditionTarget, 'language' | 'schema'>,
): FilterEdit {
  const parsed = parse(typed, language);
  const refuse = (why: string) =>
    ({ kind: 'unsafe', condition: RANGE_CONDITION, why }) satisfies FilterEdit;
  if (typeof parsed === 'string') return refuse(parsed);
  const isKnown = schema.some(({ name }) => name === parsed.table);
  if (!isKnown) return refuse('its table is unknown');
  return { kind: 'edited', ...inserted(typed, parsed, RANGE_CONDITION) };
}

interface Parsed {
  readonly language: Language;
  /** The last part of a qualified name. */
  readonly table: string;
  readonly items: readonly (readonly Token[])[];
  /** The position after FROM. */
  readonly sourceEnd: number;
  /** The tokens between WHERE and the next clause; `undefined` without WHERE. */
  readonly where: readonly Token[] | undefined;
}

/** @returns a reason when the statement is too complex to change. */
function parse(typed: string, language: Language): Parsed | string {
  const all = tokensOf(typed, language);
  if (all === undefined) return 'a quote or a bracket is not closed';
  const tokens = all.at(-1)?.text === ';' ? all.slice(0, -1) : all;
  const keywords = tokens.map(({ kind, depth, text }) =>
    kind === 'word' && depth === 0 ? text.toLowerCase() : '',
  );
  if (tokens.some(({ text }) => text === ';')) return 'it contains more than one statement';
  if (keywords[0] !== 'select') return 'it is not a simple SELECT statement';
  if (keywords.some((keyword) => SETS.has(keyword))) return 'it combines several SELECT statements';
  const from = keywords.findIndex(
    (keyword, at) => keyword === 'from' && keywords[at - 1] !== 'distinct',
  );
  if (from === -1) return 'it has no FROM clause';
  const endFrom = (start: number, isEnd: (keyword: string) => boolean): number => {
    const found = keywords.findIndex((keyword, at) => at >= start && isEnd(keyword));
    return found === -1 ? tokens.length : found;
  };
  const sourceEnd = endFrom(from + 1, (keyword) => keyword === 'where' || ENDS.has(keyword));
  const source = tokens.slice(from + 1, sourceEnd);
  const table = tableOf(source, language);
  if (table === undefined) return 'it reads more than one table';
  const hasWhere = keywords[sourceEnd] === 'where';
  const where = hasWhere
    ? tokens.slice(
        sourceEnd + 1,
        endFrom(sourceEnd + 1, (keyword) => ENDS.has(keyword)),
      )
    : undefined;
  const first = ['distinct', 'all'].includes(keywords[1] ?? '') ? 2 : 1;
  return {
    ...{ language, table, where },
    items: parted(tokens.slice(first, from)),
    sourceEnd: source.at(-1)?.to ?? 0,
  };
}

const isName = (token: Token | undefined): token is Token =>
  token?.kind === 'word' || token?.kind === 'name';

/** Returns the table name in `a.b.table`, `table t` or `table AS t`. */
function tableOf(source: readonly Token[], language: Language): string | undefined {
  let at = 0;
  while (isName(source[at]) && source[at + 1]?.text === '.') {
    at += source[at + 2]?.text === '.' ? 3 : 2; // the form `db..table` of InfluxQL
  }
  const name = source[at];
  if (!isName(name)) return undefined;
  const alias = source.slice(at + 1);
  const isAlias =
    alias.length === 0 ||
    (alias.length === 1 && isName(alias[0])) ||
    (alias.length === 2 && alias[0]?.text.toLowerCase() === 'as' && isName(alias[1]));
  return isAlias ? calledBy(name, language) : undefined;
}

/** Returns the table column behind a result column; `undefined` for a computed one. */
function sourceOf(
  output: string,
  { items, language }: Parsed,
  columns: SchemaTable['columns'],
): string | undefined {
  let hasStar = false;
  for (const item of items) {
    const { name, plain, isStar } = readItem(item, language);
    hasStar ||= isStar;
    if (name === output) return plain;
  }
  const column = columns.find(({ name }) => name === output);
  // InfluxQL adds grouped tags to the result without naming them.
  return hasStar || (language === 'influxql' && column?.kind === 'tag') ? column?.name : undefined;
}

function readItem(item: readonly Token[], language: Language) {
  const last = item.at(-1);
  if (last?.text === '*') return { name: undefined, plain: undefined, isStar: item.length < 4 };
  const hasAs = item.at(-2)?.text.toLowerCase() === 'as';
  const before = item.at(-2);
  const isAlias = hasAs || (isName(last) && (isName(before) || item.at(-2)?.text === ')'));
  const expression = isAlias ? item.slice(0, hasAs ? -2 : -1) : item;
  const plain = plainName(expression, language);
  return { name: isAlias && last ? calledBy(last, language) : plain, plain, isStar: false };
}

/** Returns the column name in `column` or `t.column`, and in `column::tag` of InfluxQL. */
function plainName(tokens: readonly Token[], language: Language): string | undefined {
  const typed = language === 'influxql' && tokens.at(-2)?.text === ':';
  const named = typed ? tokens.slice(0, -3) : tokens;
  const last = named.at(-1);
  const isPlain = named.length === 1 || (named.length === 3 && named[1]?.text === '.');
  return isPlain && isName(last) ? calledBy(last, language) : undefined;
}

function inserted(typed: string, { where, sourceEnd }: Parsed, condition: string) {
  if (where === undefined || where.length === 0) {
    const isLong = typed.trim().includes('\n');
    const added = `WHERE ${condition}`;
    return {
      text: `${typed.slice(0, sourceEnd)}${isLong ? '\n' : ' '}${added}${typed.slice(sourceEnd)}`,
      added,
    };
  }
  const [begin = 0, end = 0] = [where[0]?.from, where.at(-1)?.to];
  const before = typed.slice(begin, end);
  const isLoose = where.some(
    ({ kind, depth, text }) => kind === 'word' && depth === 0 && LOOSE.has(text.toLowerCase()),
  );
  const existing = isLoose ? `(${before})` : before;
  const added = `AND ${condition}`;
  return { text: `${typed.slice(0, begin)}${existing} ${added}${typed.slice(end)}`, added };
}

/** Returns `undefined` when the language has no such condition. */
function conditionOf(
  column: { readonly name: string; readonly kind: string },
  text: string | null,
  { language, isOut }: Pick<ConditionTarget, 'language' | 'isOut'>,
): string | undefined {
  const name = quoteName(column.name, language);
  if (language === 'influxql') {
    if (text === null)
      return column.kind === 'tag' ? `${name} ${isOut ? '!=' : '='} ''` : undefined;
    const value = literalOf(column.kind, text, language);
    return value && `${name} ${isOut ? '!=' : '='} ${value}`;
  }
  if (text === null) return `${name} IS ${isOut ? 'NOT ' : ''}NULL`;
  const value = literalOf(column.kind, text, language);
  // Excluding a value keeps rows in which the value is missing.
  return value && (isOut ? `(${name} IS DISTINCT FROM ${value})` : `${name} = ${value}`);
}

/** Formats a value of a column as a literal; `undefined` if the text is not such a value. */
export function literalOf(kind: string, text: string, language: Language): string | undefined {
  switch (kind) {
    case 'float64':
    case 'int64':
    case 'uint64': {
      const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text);
      return isNumber && (language === 'sql' || !text.includes('e')) ? text : undefined;
    }
    case 'bool':
      return text === 'true' || text === 'false' ? text : undefined;
    case 'time':
      return `${language === 'sql' ? 'TIMESTAMP ' : ''}'${text.replace(' ', 'T')}Z'`;
    default:
      return quoteText(text, language);
  }
}
