/** Field types, named as in the management API. */
export const FIELD_TYPES = ['int64', 'uint64', 'float64', 'bool', 'utf8'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Column kinds. Tags are strings; `time` is nanoseconds since 1970-01-01 UTC and never absent. */
export type ColumnKind = FieldType | 'tag' | 'time';

export interface Column {
  /** Unique in its table and never reused. Files use it as the field id. */
  readonly id: number;
  readonly name: string;
  readonly kind: ColumnKind;
  /**
   * Name of the column in DuckDB. It differs from `name` if another column differs only in letter
   * case or if DuckDB reserves the name, because DuckDB names are case-insensitive.
   */
  readonly physicalName: string;
  /** Name of a renamed tag in series ids, in the log and in the series index; absent if it is equal to `name`. */
  readonly storedTagName?: string;
}

/** See `Column.storedTagName`. */
export const storedTagNameOf = ({
  name,
  storedTagName,
}: Pick<Column, 'name' | 'storedTagName'>): string => storedTagName ?? name;

/** Names of column types in messages to clients. Source: tsdb-http, "Type conflicts". */
export const MESSAGE_TYPE: Readonly<Record<ColumnKind, string>> = {
  tag: 'iox::column_type::tag',
  time: 'iox::column_type::timestamp',
  float64: 'iox::column_type::field::float',
  int64: 'iox::column_type::field::integer',
  uint64: 'iox::column_type::field::uinteger',
  utf8: 'iox::column_type::field::string',
  bool: 'iox::column_type::field::boolean',
};
