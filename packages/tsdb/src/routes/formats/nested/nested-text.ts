import { hasLists, leafCount, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { STEP_ROWS, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';

/**
 * Writes a nested value that is not NULL, in parts and in steps. A list may contain the values of a
 * complete table.
 */
export type NestedText = (value: unknown, put: (part: string) => void) => Steps<void>;

/** Differences between formats. */
export interface NestedFormat {
  readonly ofValue: (type: SqlType) => (value: unknown) => string;
  readonly ofKey: (type: SqlType) => (value: unknown) => string;
  readonly ofName: (name: string) => string;
  readonly separator: string;
  readonly colon: string;
  readonly textOfNull: string;
}

/** Approximate length of a part. */
export const PART_LENGTH = 16 * 1024;

/** Splits a long text into parts of about `PART_LENGTH`, without splitting a character. */
export function* partsOf(text: string): Generator<string, void, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = from + PART_LENGTH;
    const to = isPair(text, end - 1) ? end + 1 : end;
    yield text.slice(from, to);
    from = to;
  }
}

/** Returns whether the code unit and the next one form a surrogate pair. */
export const isPair = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;

export function nestedText(type: SqlType, format: NestedFormat): NestedText {
  const write = writerOf(type, format);
  return function* (value, put) {
    const parts = new Parts(put);
    const steps = write(value, parts);
    if (steps !== undefined) yield* steps;
    parts.flush();
  };
}

/** The part of a value's text that has not been written yet. */
class Parts {
  readonly #put: (part: string) => void;
  #text = '';
  #count = 0;

  constructor(put: (part: string) => void) {
    this.#put = put;
  }

  add(text: string): void {
    this.#text += text;
  }

  /** Adds a number of values and returns whether the step ends. */
  isStepEnd(count: number): boolean {
    this.#count += count;
    return this.#count >= STEP_ROWS || this.#text.length >= PART_LENGTH;
  }

  flush(): void {
    // Reading a character flattens the string. Otherwise, reading all parts later would flatten
    // them in one step.
    if (this.#text.charCodeAt(0) >= 0) this.#put(this.#text);
    this.#text = '';
    this.#count = 0;
  }
}

/** Writes a value immediately, or returns the steps that write it. */
type Writer = (value: unknown, parts: Parts) => Steps<void> | undefined;

/** Returns the writer of a value that may be NULL. */
function writerOf(type: SqlType, format: NestedFormat): Writer {
  const write = presentWriter(type, format);
  return (value, parts) => {
    if (value !== null && value !== undefined) return write(value, parts);
    parts.add(format.textOfNull);
    return undefined;
  };
}

// The assertions follow the `SqlType` table.
function presentWriter(type: SqlType, format: NestedFormat): Writer {
  switch (type.kind) {
    case 'list': {
      const items = { brackets: '[]', size: leafCount(type.element), separator: format.separator };
      const write = writerOf(type.element, format);
      return (value, parts) => itemSteps(value as readonly unknown[], write, parts, items);
    }
    case 'map': {
      const items = { brackets: '{}', size: leafCount(type.value), separator: format.separator };
      const key = format.ofKey(type.key);
      const write = writerOf(type.value, format);
      const writePair: Writer = (pair, parts) => {
        const [name, value] = pair as readonly [unknown, unknown];
        parts.add(key(name) + format.colon);
        return write(value, parts);
      };
      return (value, parts) => itemSteps(value as readonly unknown[], writePair, parts, items);
    }
    case 'struct':
      return structWriter(type, format);
    default: {
      const text = format.ofValue(type);
      return (value, parts) => {
        parts.add(text(value));
        return undefined;
      };
    }
  }
}

function* itemSteps(
  items: readonly unknown[],
  write: Writer,
  parts: Parts,
  {
    brackets,
    size,
    separator,
  }: { readonly brackets: string; readonly size: number; readonly separator: string },
): Steps<void> {
  parts.add(brackets.charAt(0));
  for (let i = 0; i < items.length; i++) {
    if (i > 0) parts.add(separator);
    const steps = write(items[i], parts);
    if (steps !== undefined) yield* steps;
    if (parts.isStepEnd(size)) {
      parts.flush();
      yield;
    }
  }
  parts.add(brackets.charAt(1));
}

function structWriter(
  type: Extract<SqlType, { readonly kind: 'struct' }>,
  format: NestedFormat,
): Writer {
  const fields = type.fields.map(({ name, type: fieldType }, index) => ({
    name,
    textBefore: (index === 0 ? '{' : format.separator) + format.ofName(name) + format.colon,
    write: writerOf(fieldType, format),
  }));
  const end = fields.length === 0 ? '{}' : '}';
  const flat: Writer = (value, parts) => {
    for (const { name, textBefore, write } of fields) {
      parts.add(textBefore);
      write(memberOf(value, name), parts);
    }
    parts.add(end);
    return undefined;
  };
  if (!hasLists(type)) return flat;
  return function* (value, parts): Steps<void> {
    for (const { name, textBefore, write } of fields) {
      parts.add(textBefore);
      const steps = write(memberOf(value, name), parts);
      if (steps !== undefined) yield* steps;
    }
    parts.add(end);
  };
}

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>>)[name];
