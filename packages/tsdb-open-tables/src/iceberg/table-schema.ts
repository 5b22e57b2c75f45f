import type { Column, ColumnKind } from '@plinth/tsdb-model/columns/column.js';

/** The metadata trees of a table: `plain` for ClickHouse and PyIceberg, `jvm` for Trino and Spark. */
export type Tree = 'plain' | 'jvm';
export const TREES: readonly Tree[] = ['plain', 'jvm'];
export const FORMAT_VERSION: Readonly<Record<Tree, 2 | 3>> = { plain: 3, jvm: 2 };

/** Java readers do not support nanoseconds; ClickHouse reads a number as seconds. */
const TIME: Readonly<Record<Tree, { readonly name: string; readonly type: string }>> = {
  plain: { name: 'time', type: 'timestamp_ns' },
  jvm: { name: 'time_ns', type: 'long' },
};

/** `undefined` for kinds without an exact counterpart: ClickHouse and Trino read 2^64-1 as -1. */
const TYPES: Readonly<Record<Exclude<ColumnKind, 'time'>, string | undefined>> = {
  tag: 'string',
  utf8: 'string',
  float64: 'double',
  int64: 'long',
  bool: 'boolean',
  uint64: undefined,
};

/** Private columns of segments; their ids are not in the schema. */
const PRIVATE_FIELDS = [
  { 'field-id': 2_000_000_000, names: ['_series'] },
  { 'field-id': 2_000_000_001, names: ['_seq'] },
];

/** A column that is not published, and why. */
export interface AbsentColumn {
  readonly column: string;
  readonly reason: string;
}

/** The columns of a table as readers see them. */
export interface PublishedColumns {
  readonly fields: readonly {
    readonly id: number;
    readonly name: string;
    readonly required: false;
    readonly type: string;
  }[];
  /** The property `schema.name-mapping.default`, for readers that require an id for every column of a file. */
  readonly nameMapping: readonly { readonly 'field-id': number; readonly names: string[] }[];
  /** Greatest id ever used. ClickHouse rejects files that have columns with greater ids. */
  readonly lastColumnId: number;
  readonly absent: readonly AbsentColumn[];
}

export function publishedColumns(columns: Iterable<Column>, tree: Tree): PublishedColumns {
  const sorted = [...columns].sort((a, b) => a.id - b.id);
  const names = publishedNames(sorted, tree);
  const fields = sorted.flatMap((column) => {
    const type = column.kind === 'time' ? TIME[tree].type : TYPES[column.kind];
    const name = names.get(column.id) as string; // has all columns
    return type === undefined ? [] : [{ id: column.id, name, required: false as const, type }];
  });
  // Each name of the mapping has one id; Java readers reject others.
  const inFiles = new Set([
    ...sorted.map(({ physicalName }) => physicalName),
    ...PRIVATE_FIELDS.flatMap(({ names: privateNames }) => privateNames),
  ]);
  const nameMapping = sorted.map((column) => {
    const name = names.get(column.id) as string; // has all columns
    const isOther = name !== column.physicalName && !inFiles.has(name);
    return { 'field-id': column.id, names: [column.physicalName, ...(isOther ? [name] : [])] };
  });
  return {
    fields,
    nameMapping: [...nameMapping, ...PRIVATE_FIELDS],
    // Columns are never removed from a table.
    lastColumnId: sorted.at(-1)?.id ?? 0,
    absent: sorted
      .filter(({ kind }) => kind !== 'time' && TYPES[kind] === undefined)
      .map(({ name }) => ({
        column: name,
        reason: 'unsigned 64-bit integers have no type in Iceberg',
      })),
  };
}

/**
 * Returns names that are unique ignoring case: of two equal names, the later one gets a number
 * (`tag__2`).
 */
function publishedNames(sorted: readonly Column[], tree: Tree): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  const own = new Set(sorted.map(({ name }) => name.toLowerCase()));
  for (const { id, kind, name: original } of sorted) {
    const preferred = kind === 'time' ? TIME[tree].name : original;
    let name = preferred;
    for (let number = 2; taken.has(name.toLowerCase()); number++) {
      const numbered = `${preferred}__${number}`;
      // A numbered name that a user has given to a column stays with that column.
      if (!own.has(numbered.toLowerCase())) name = numbered;
    }
    taken.add(name.toLowerCase());
    names.set(id, name);
  }
  return names;
}
