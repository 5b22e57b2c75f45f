export interface LineProblem {
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface LineCheck {
  /** Neither blank nor a comment. */
  readonly lineCount: number;
  readonly problems: readonly LineProblem[];
  readonly tables: readonly string[];
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+[iu]$/;
const BOOLEAN = /^(?:t|T|true|True|TRUE|f|F|false|False|FALSE)$/;

/** A first look at line protocol, for whoever types it; the server decides. Source: tsdb-http, section 5. */
export function checkLines(text: string): LineCheck {
  const problems: LineProblem[] = [];
  const tables = new Set<string>();
  let lineCount = 0;
  let number = 0;
  for (const { line, startLine } of splitLines(text)) {
    number = startLine;
    const trimmed = line.trimStart();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    lineCount++;
    const found = checkLine(line);
    if ('message' in found) problems.push({ line: number, ...found });
    else tables.add(found.table);
  }
  return { lineCount, problems, tables: [...tables] };
}

/** Texts in quotes may have line breaks. */
function* splitLines(
  text: string,
): Generator<{ readonly line: string; readonly startLine: number }> {
  let start = 0;
  let startLine = 1;
  let lineNumber = 1;
  let isInText = false;
  for (let index = 0; index <= text.length; index++) {
    const char = text[index];
    if (char === '\\' && isInText) {
      index++;
      continue;
    }
    if (char === '"' && (isInText || text[index - 1] === '=')) isInText = !isInText;
    if (char === '\n') lineNumber++;
    if (index === text.length || (char === '\n' && !isInText)) {
      yield { line: text.slice(start, index), startLine };
      start = index + 1;
      startLine = lineNumber;
    }
  }
}

type Checked = { readonly table: string } | { readonly column: number; readonly message: string };

function checkLine(line: string): Checked {
  const at = (index: number, message: string): Checked => ({ column: index + 1, message });
  const nameEnd = findEnd(line, 0, ', ');
  if (nameEnd === 0) return at(0, 'the name of the table is missing');
  let index = nameEnd;
  while (line[index] === ',') {
    const equals = findEnd(line, index + 1, '=, ');
    if (line[equals] !== '=') return at(equals, 'a tag needs "=" and a value');
    if (equals === index + 1) return at(equals, 'the name of the tag is missing');
    const end = findEnd(line, equals + 1, ', ');
    if (end === equals + 1) return at(end, 'the value of the tag is missing');
    index = end;
  }
  if (index >= line.length) return at(index, 'the fields are missing');
  index = skipSpaces(line, index);
  if (index >= line.length) return at(index, 'the fields are missing');
  for (;;) {
    const equals = findEnd(line, index, '=, ');
    if (line[equals] !== '=' || equals === index)
      return at(equals, 'a field needs a name, "=" and a value');
    const end = valueEnd(line, equals + 1);
    const value = line.slice(equals + 1, end);
    const fault = valueFault(value);
    if (fault !== undefined) return at(equals + 1, fault);
    index = end;
    if (line[index] !== ',') break;
    index++;
  }
  const time = line.slice(index).trim();
  if (time !== '' && !/^-?\d+$/.test(time)) {
    return at(skipSpaces(line, index), 'the time is no whole number');
  }
  return { table: line.slice(0, nameEnd).replace(/\\([, ])/g, '$1') };
}

function valueFault(value: string): string | undefined {
  if (value === '') return 'the value of the field is missing';
  if (value.startsWith('"')) {
    return value.length > 1 && value.endsWith('"') ? undefined : 'the text has no closing quote';
  }
  const isKnown = NUMBER.test(value) || INTEGER.test(value) || BOOLEAN.test(value);
  return isKnown ? undefined : 'not a number (1.5, 3i, 3u), true, false or a quoted text';
}

function valueEnd(line: string, start: number): number {
  if (line[start] !== '"') return findEnd(line, start, ', ');
  for (let index = start + 1; index < line.length; index++) {
    if (line[index] === '\\') index++;
    else if (line[index] === '"') return index + 1;
  }
  return line.length;
}

/** The next of `ends` that no backslash stands before. */
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
