import { type FieldType, type TableShape, TYPE_NAMES } from '@plinth/line-protocol';

/** The columns of a table, as the server lists them. */
export type KnownColumns = readonly { readonly name: string; readonly kind: string }[];

/** A description of the changes that a write makes to a table. */
export interface SchemaChange {
  /** Empty when there are only conflicts. */
  readonly what: string;
  /** The columns that the server will reject. */
  readonly conflicts: readonly string[];
}

const FIELD_KINDS: ReadonlyMap<string, FieldType> = new Map([
  ['float64', 'float'],
  ['int64', 'int'],
  ['uint64', 'uint'],
  ['utf8', 'string'],
  ['bool', 'bool'],
]);
const REFUSED = 'the server rejects such rows';
const MAX_NAMED_COUNT = 12;

/** Returns the field type of a column; `undefined` for a tag or the time. */
export const fieldTypeOf = (kind: string): FieldType | undefined => FIELD_KINDS.get(kind);

/** @param known absent for a table that does not exist yet. */
export function schemaChange(
  { table, tags, fields }: TableShape,
  known: KnownColumns | undefined,
): SchemaChange {
  const columns = [
    ...tags.map((name) => ({ name, is: 'tag' })),
    ...[...fields].map(([name, type]) => ({ name, is: TYPE_NAMES[type] })),
  ];
  const kinds = new Map(known?.map(({ name, kind }) => [name, kind]));
  const conflicts = columns
    .map(({ name, is }) => conflictOf({ table, name, is }, kinds.get(name)))
    .filter((text) => text !== undefined);
  const typed = ({ name, is }: { readonly name: string; readonly is: string }) => `${name} (${is})`;
  if (known === undefined) {
    const parts = [
      ...(tags.length > 0 ? [listOf('tag', tags)] : []),
      listOf('field', columns.slice(tags.length).map(typed)),
    ];
    return { what: `New table ${table}: ${parts.join(', ')}`, conflicts };
  }
  const added = columns.filter(({ name }) => !kinds.has(name)).map(typed);
  const count = added.length === 1 ? '1 new column' : `${added.length} new columns`;
  const what =
    added.length === 0
      ? conflicts.length === 0
        ? `${table} already has these columns`
        : ''
      : `${count} in ${table}: ${cutList(added)}`;
  return { what, conflicts };
}

function conflictOf(
  options: { readonly table: string; readonly name: string; readonly is: string },
  kind: string | undefined,
): string | undefined {
  if (options.name === 'time')
    return `The column name 'time' is reserved for the timestamp: ${REFUSED}`;
  if (kind === undefined) return undefined;
  const type = fieldTypeOf(kind);
  const was = type === undefined ? kind : TYPE_NAMES[type];
  if (was === options.is) return undefined;
  return `Column '${options.name}' of table '${options.table}' has the type ${was}, not ${options.is}: ${REFUSED}`;
}

const listOf = (noun: string, names: readonly string[]): string =>
  `${noun}${names.length === 1 ? '' : 's'} ${cutList(names)}`;

function cutList(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED_COUNT).join(', ');
  const hiddenCount = names.length - MAX_NAMED_COUNT;
  return hiddenCount > 0 ? `${shown} and ${hiddenCount} more` : shown;
}
