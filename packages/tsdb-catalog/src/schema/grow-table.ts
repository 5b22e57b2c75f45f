import { invariant } from '@plinth/kernel';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { choosePhysicalName, foldName } from './physical-name.js';
import type { NewColumn } from './table-draft.js';

/** `time` is the first column of every table. */
const TIME_COLUMN: Column = { id: 1, name: 'time', kind: 'time', physicalName: 'time' };
const FIRST_FREE_COLUMN_ID = 2;

/** A table, with data that only the catalog needs. */
export interface TableEntry {
  readonly schema: TableSchema;
  readonly nextColumnId: number;
}

export function newTable(
  identity: Pick<TableSchema, 'id' | 'uuid' | 'databaseId' | 'name' | 'seriesSeed'>,
): TableEntry {
  const schema: TableSchema = {
    ...identity,
    columns: new Map([[TIME_COLUMN.name, TIME_COLUMN]]),
    seriesKey: [],
    version: 0,
  };
  return { schema, nextColumnId: FIRST_FREE_COLUMN_ID };
}

/**
 * Returns the next version of the table, with the columns in `added`; new tags are appended to the
 * series key.
 */
export function growTable(entry: TableEntry, added: readonly NewColumn[]): TableEntry {
  const { schema } = entry;
  let nextColumnId = entry.nextColumnId;
  const takenFolds = new Set([...schema.columns.values()].map((c) => foldName(c.physicalName)));
  const columns = [...schema.columns.values()];
  for (const { name, kind } of added) {
    invariant(!schema.columns.has(name), `column ${name} already exists`);
    const id = nextColumnId++;
    const physicalName = choosePhysicalName({ name, id }, takenFolds);
    takenFolds.add(foldName(physicalName));
    columns.push({ id, name, kind, physicalName });
  }
  const newTags = added.filter((column) => column.kind === 'tag').map((column) => column.name);
  return {
    schema: {
      ...schema,
      columns: byName(columns),
      seriesKey: [...schema.seriesKey, ...newTags],
      version: schema.version + 1,
    },
    nextColumnId,
  };
}

/** Returns the columns by name, iterating in byte order of the names. */
export function byName(columns: readonly Column[]): ReadonlyMap<string, Column> {
  const sorted = columns.toSorted((a, b) => compareByteOrder(a.name, b.name));
  return new Map(sorted.map((column) => [column.name, column]));
}
