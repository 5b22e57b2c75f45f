import { quoteName } from './identifiers.js';
import type { Language } from './macros.js';
import type { Suggestion } from './suggestion.js';
import { FUNCTIONS, KEYWORDS } from './words.js';

export interface SchemaTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly kind: string }[];
}

/** The completions at a position of a statement. */
export type CompletionContext =
  | { readonly kind: 'table'; readonly from: number }
  | {
      readonly kind: 'value';
      readonly from: number;
      readonly tag: string;
      readonly tables: readonly string[];
    }
  | { readonly kind: 'macro'; readonly from: number }
  | { readonly kind: 'word'; readonly from: number; readonly tables: readonly string[] };

const NAME = String.raw`(?:"(?:[^"\\]|\\.|"")*"|[\w.\-]+)`;
const AFTER_TABLE_WORD = /\b(?:from|join|into|measurement)\s+("?[\w.-]*)$/i;
const AFTER_VALUE = new RegExp(
  String.raw`(${NAME})\s*(?:=|!=|<>|=~|\bin\s*\((?:\s*'[^']*'\s*,)*)\s*('[^']*)$`,
  'i',
);

/** Returns the completion context at `position`; `undefined` inside a string or a comment. */
export function contextAt(text: string, position: number): CompletionContext | undefined {
  const before = statementBefore(text, position);
  const start = position - before.length;
  const macro = /\$\{?\w*$/.exec(before);
  if (macro !== null) return { kind: 'macro', from: start + macro.index };
  const tables = tablesIn(text);
  const value = AFTER_VALUE.exec(before);
  if (value !== null) {
    const [, tag = '', typed = ''] = value;
    return { kind: 'value', from: position - typed.length, tag: unquoted(tag), tables };
  }
  if (isInsideText(before)) return undefined;
  const table = AFTER_TABLE_WORD.exec(before);
  if (table !== null) return { kind: 'table', from: position - (table[1]?.length ?? 0) };
  const typedName = /"?[\w]*$/.exec(before)?.[0] ?? '';
  return { kind: 'word', from: position - typedName.length, tables };
}

/** Returns the suggestions for a context, most specific first. */
export function suggestionsFor(
  context: Exclude<CompletionContext, { readonly kind: 'value' }>,
  options: { readonly language: Language; readonly schema: readonly SchemaTable[] },
): readonly Suggestion[] {
  const { language, schema } = options;
  if (context.kind === 'macro') return MACROS;
  const tables = schema.map(
    ({ name, columns }): Suggestion => ({
      label: name,
      apply: quoteName(name, language),
      kind: 'table',
      detail: `${columns.length} columns`,
    }),
  );
  if (context.kind === 'table') return tables;
  const named = schema.filter(({ name }) => context.tables.includes(name));
  const seen = new Set<string>();
  const columns = named
    .flatMap((table) => table.columns)
    .filter(({ name }) => !seen.has(name) && seen.add(name))
    .map(
      ({ name, kind }): Suggestion => ({
        label: name,
        apply: quoteName(name, language),
        kind: kind === 'tag' || kind === 'time' ? kind : 'field',
        detail: kind,
      }),
    )
    .sort((a, b) => rank(a) - rank(b));
  return [...columns, ...tables, ...FUNCTIONS[language], ...KEYWORDS[language]];
}

const rank = ({ kind }: Suggestion): number => ['tag', 'field', 'time'].indexOf(kind);

/** Returns the tables named after FROM and JOIN. */
function tablesIn(text: string): readonly string[] {
  const found = text.matchAll(
    new RegExp(String.raw`\b(?:from|join)\s+(${NAME}(?:\.${NAME}){0,2})`, 'gi'),
  );
  return [...found].map(([, name = '']) => {
    if (name.includes('"'))
      return unquoted(/(?:^|\.)("(?:[^"\\]|\\.|"")*"|[\w-]+)$/.exec(name)?.[1] ?? name);
    return name;
  });
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  return name.slice(1, -1).replace(/\\(.)|""/g, (_, char?: string) => char ?? '"');
}

const MACROS: readonly Suggestion[] = [
  ['from', 'start of the selected time range'],
  ['to', 'end of the selected time range'],
  ['interval', 'bucket width for the chart'],
  ['max_points', 'number of points that fit into the chart'],
].map(([name, detail]) => ({ label: `\${${name}}`, kind: 'macro' as const, detail }));

/** Returns the text after the end of the previous statement. */
function statementBefore(text: string, position: number): string {
  const before = text.slice(0, position);
  return before.slice(before.lastIndexOf(';') + 1);
}

function isInsideText(before: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (/--/.test(line.replace(/'[^']*'/g, ''))) return true;
  return (before.match(/'/g)?.length ?? 0) % 2 === 1;
}
