import type { Kind } from '../../model/kinds.js';
import type { DataSet } from '../data/data-set.js';
import { listColumn, numberColumn, type Row, textColumn } from '../data/row.js';
import type { Field, Filter, LocalText } from './kind-spec.js';

export const text = (column: string): Field => ({
  type: 'text',
  get: (row) => textColumn(row, column),
});

export const number = (column: string): Field => ({
  type: 'number',
  get: (row) => numberColumn(row, column),
});

export const flag = (column: string): Field => ({
  type: 'flag',
  get: (row) => row.columns[column] === true,
});

export const wordField = (column: string, values?: readonly string[]): Field => ({
  type: 'words',
  ...(values && { values }),
  get: (row) => {
    const value = row.columns[column];
    if (typeof value === 'string') return [value];
    return Array.isArray(value) ? value : [];
  },
});

export const relation = (kind: Kind, column: string): Field => ({
  type: 'relation',
  kind,
  get: (row) => {
    const value = row.columns[column];
    return typeof value === 'string' ? [value] : listColumn(row, column);
  },
});

export const relationBy = (
  kind: Kind,
  get: (row: Row, set: DataSet) => readonly string[],
): Field => ({ type: 'relation', kind, get });

export const anyOf = (field: string): Filter => ({ type: 'any-of', field });
export const minimum = (field: string): Filter => ({ type: 'minimum', field });
export const maximum = (field: string): Filter => ({ type: 'maximum', field });

export const id: Field = { type: 'text', get: (row) => row.id };

/** Returns the translatable members at the root of a record. */
export function rootTexts<R extends object>(
  record: R,
  names: readonly (keyof R & string)[],
): LocalText[] {
  return names.map((key) => {
    const value = record[key];
    return { key, value: typeof value === 'string' ? value : null };
  });
}

/** Sets a member at the root, or a member of the list entry with an id (`objectives.o1.target`). */
export function setTextAt(record: object, key: string, value: string, lists: Lists = {}): void {
  const [list, entryId, member] = splitKey(key);
  if (entryId === undefined || member === undefined) {
    Reflect.set(record, key, value);
    return;
  }
  const entries = lists[list]?.() ?? [];
  const entry = entries.find((candidate, index) => {
    const { id: ownId, level } = candidate as { id?: unknown; level?: unknown };
    return entryId === String(ownId ?? level ?? index);
  });
  if (entry !== undefined) Reflect.set(entry, member, value);
}

type Lists = Readonly<Record<string, () => readonly object[]>>;

/** The id in the middle may contain dots. */
function splitKey(key: string): [string, string | undefined, string | undefined] {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  if (first === -1 || first === last) return [key, undefined, undefined];
  return [key.slice(0, first), key.slice(first + 1, last), key.slice(last + 1)];
}

export function unique(values: readonly string[]): readonly string[] {
  return values.length < 2 ? values : [...new Set(values)];
}
