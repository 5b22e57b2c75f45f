/** Type of a field, in the words of the management API. */
export type FieldType = 'float64' | 'int64' | 'uint64' | 'utf8' | 'bool';

/** What a column is. Tags are strings; `time` is nanoseconds since 1970-01-01 UTC and never absent. */
export type ColumnKind = FieldType | 'tag' | 'time';

export interface Column {
  /** Unique in its table and never reused: it is the field id in every file. */
  readonly id: number;
  readonly name: string;
  readonly kind: ColumnKind;
  /**
   * Name inside the engine. Equal to `name` unless another column differs from it only by letter case
   * or the name is taken by the engine itself: the engine folds case, users' names do not.
   */
  readonly physicalName: string;
}

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
