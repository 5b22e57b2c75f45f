import { type FieldType, TYPE_NAMES } from './field-type.js';

export interface LineProblem {
  /** Line and column, both from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Columns and types of the table that lines, or the columns of a file, would create. */
export interface TableShape {
  readonly table: string;
  readonly tags: readonly string[];
  readonly fields: ReadonlyMap<string, FieldType>;
}

export interface LineCheck {
  /** Lines that are neither blank nor comments. */
  readonly lineCount: number;
  /** The first problems, up to a fixed limit. */
  readonly problems: readonly LineProblem[];
  readonly problemCount: number;
  /** Tables of the valid lines, up to a fixed limit. */
  readonly tables: readonly TableShape[];
  readonly tableCount: number;
}

const MAX_PROBLEM_COUNT = 20;
const MAX_TABLE_COUNT = 20;
const FLOAT = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BOOLEAN = /^(?:t|T|true|True|TRUE|f|F|false|False|FALSE)$/;
const RESERVED = 'the name "time" is reserved for the timestamp';

/**
 * Checks line protocol in an editor before it is sent; the server has the final decision. Source:
 * tsdb-http, section 5.
 */
export function checkLines(text: string): LineCheck {
  const problems: LineProblem[] = [];
  let problemCount = 0;
  const tables = new Map<string, Shape>();
  let lineCount = 0;
  for (const { line, startLine } of splitLines(text)) {
    const start = line.length - line.trimStart().length;
    if (start === line.length || line[start] === '#') continue;
    lineCount++;
    const found = checkLine(line, start, tables);
    if (found === undefined) continue;
    problemCount++;
    if (problems.length < MAX_PROBLEM_COUNT) problems.push({ line: startLine, ...found });
  }
  return {
    lineCount,
    problems,
    problemCount,
    tables: [...tables]
      .slice(0, MAX_TABLE_COUNT)
      .map(([table, { tags, fields }]) => ({ table, tags: [...tags], fields })),
    tableCount: tables.size,
  };
}

/**
 * A newline inside a quoted string, or after a backslash, does not end the line. Source: tsdb-http,
 * "Splitting into lines".
 */
function* splitLines(
  text: string,
): Generator<{ readonly line: string; readonly startLine: number }> {
  let lineNumber = 1;
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    const line = text.slice(start, end);
    yield { line: line.endsWith('\r') ? line.slice(0, -1) : line, startLine: lineNumber };
    for (let at = text.indexOf('\n', start); at >= 0 && at <= end; at = text.indexOf('\n', at + 1))
      lineNumber++;
    start = end + 1;
  }
}

function lineEnd(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\t') at++;
  if (text[at] === '#') {
    const newline = text.indexOf('\n', at);
    return newline < 0 ? text.length : newline;
  }
  let isInFields = false;
  let isQuoted = false;
  /**
   * A quote opens a string only where a value is expected: after an `=` that no comma has closed
   * yet.
   */
  let openValueCount = 0;
  for (; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (isQuoted) isQuoted = char !== '"';
    else if (char === '\n') return at;
    else if (!isInFields) isInFields = char === ' ';
    else if (char === '=') openValueCount++;
    else if (char === ',') openValueCount--;
    else if (char === '"') isQuoted = openValueCount > 0;
  }
  return text.length;
}

interface Shape {
  readonly tags: Set<string>;
  readonly fields: Map<string, FieldType>;
}

interface Fault {
  readonly column: number;
  readonly message: string;
}

/** Checks one line. A valid line extends the shape of its table. */
function checkLine(line: string, start: number, tables: Map<string, Shape>): Fault | undefined {
  const at = (index: number, message: string): Fault => ({ column: index + 1, message });
  const nameEnd = findEnd(line, start, ', ');
  if (nameEnd === start) return at(start, 'the table name is missing');
  const table = unescaped(line.slice(start, nameEnd), /\\([, \\])/g);
  const known = tables.get(table);
  const tags = new Set<string>();
  let index = nameEnd;
  while (line[index] === ',') {
    const equals = findEnd(line, index + 1, '= ');
    if (line[equals] !== '=') return at(equals, 'a tag needs "=" and a value');
    if (equals === index + 1) return at(equals, 'the tag name is missing');
    const end = findEnd(line, equals + 1, ', ');
    if (end === equals + 1) return at(end, 'the tag value is missing');
    const tag = unescaped(line.slice(index + 1, equals));
    if (tag === 'time') return at(index + 1, RESERVED);
    if (tags.has(tag)) return at(index + 1, 'duplicate tag in this line');
    if (known?.fields.has(tag)) return at(index + 1, 'this name is a field on an earlier line');
    tags.add(tag);
    index = end;
  }
  if (index >= line.length) return at(index, 'the fields are missing');
  index = skipSpaces(line, index);
  if (index >= line.length) return at(index, 'the fields are missing');
  const fields = new Map<string, FieldType>();
  for (;;) {
    const equals = findEnd(line, index, '= ');
    if (line[equals] !== '=' || equals === index)
      return at(equals, 'a field needs a name, "=" and a value');
    const field = unescaped(line.slice(index, equals));
    if (field === 'time') return at(index, RESERVED);
    if (fields.has(field)) return at(index, 'duplicate field in this line');
    if (tags.has(field) || known?.tags.has(field)) return at(index, 'this name is a tag');
    const end = valueEnd(line, equals + 1);
    const type = typeOf(line.slice(equals + 1, end));
    if (typeof type !== 'string') return at(equals + 1, type.message);
    const before = known?.fields.get(field);
    if (before !== undefined && before !== type)
      return at(equals + 1, `the field type is ${TYPE_NAMES[before]} on an earlier line`);
    fields.set(field, type);
    index = end;
    if (line[index] !== ',') break;
    index++;
    if (index === line.length || line[index] === ' ') break;
  }
  const time = line.slice(index).trim();
  if (time !== '' && !(line[index] === ' ' && /^-?\d+$/.test(time))) {
    return at(skipSpaces(line, index), 'the timestamp is not an integer');
  }
  const shape = known ?? { tags: new Set<string>(), fields: new Map<string, FieldType>() };
  tables.set(table, shape);
  for (const tag of tags) shape.tags.add(tag);
  for (const [field, type] of fields) shape.fields.set(field, type);
  return undefined;
}

const unescaped = (text: string, escapes = /\\([,= \\])/g): string => text.replace(escapes, '$1');

function typeOf(value: string): FieldType | { readonly message: string } {
  if (value === '') return { message: 'the field value is missing' };
  if (value.startsWith('"')) {
    if (value.length > 1 && value.endsWith('"')) return 'string';
    return { message: 'the string has no closing quote' };
  }
  if (FLOAT.test(value)) return 'float';
  if (BOOLEAN.test(value)) return 'bool';
  if (/^-?\d+i$/.test(value)) return isWithin(value, -(2n ** 63n), 2n ** 63n - 1n, 'int');
  if (/^\d+u$/.test(value)) return isWithin(value, 0n, 2n ** 64n - 1n, 'uint');
  return {
    message: 'invalid field value; use a number (1.5, 3i, 3u), true, false or a quoted string',
  };
}

function isWithin(
  value: string,
  least: bigint,
  most: bigint,
  type: FieldType,
): FieldType | { readonly message: string } {
  const digits = value.slice(0, -1).replace(/^(-?)0+(?=\d)/, '$1');
  // Avoids converting very long digit strings to BigInt.
  const number = digits.length > 20 ? undefined : BigInt(digits);
  if (number !== undefined && number >= least && number <= most) return type;
  return { message: `the number is out of range; use ${least} to ${most}` };
}

function valueEnd(line: string, start: number): number {
  if (line[start] !== '"') return findEnd(line, start, ', ');
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\') index++;
    else if (line[index] === '"') return index + 1;
  }
  return line.length;
}

/** Index of the next character in `ends` that is not escaped by a backslash. */
function findEnd(line: string, start: number, ends: string): number {
  for (let index = start; index < line.length; index++) {
    const char = line[index] as string;
    if (char === '\\') index++;
    else if (ends.includes(char)) return index;
  }
  return line.length;
}

function skipSpaces(line: string, start: number): number {
  let index = start;
  while (line[index] === ' ') index++;
  return index;
}
