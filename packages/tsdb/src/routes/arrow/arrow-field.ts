import { MESSAGE_TYPE } from '@plinth/tsdb-model/columns/column.js';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';

/** A union type. Only Flight SQL uses it; query results do not contain unions. */
export interface UnionType {
  readonly kind: 'union';
  /** A value refers to its member by index. */
  readonly members: readonly { readonly name: string; readonly type: SqlType }[];
}

/**
 * Time of day in milliseconds. Only parameters use it, because JDBC clients send this unit; query
 * results do not.
 */
export interface TimeOfDayType {
  readonly kind: 'time_ms';
}

export type ArrowType = SqlType | UnionType | TimeOfDayType;

/** One column of an Arrow schema. */
export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
  readonly isNullable: boolean;
  readonly metadata: readonly KeyValuePair[];
}

export type KeyValuePair = readonly [key: string, value: string];

/**
 * Clients that convert rows to points distinguish tags from fields by this key. Source: tsdb-http,
 * §20.2.
 */
const COLUMN_TYPE_KEY = 'iox::column::type';

/** Returns the Arrow field of an output column. Computed columns have no origin metadata. */
export function arrowFieldOf({ name, type, tableColumnKind }: OutputColumn): ArrowField {
  return {
    name,
    type,
    isNullable: tableColumnKind !== 'time',
    metadata:
      tableColumnKind === undefined ? [] : [[COLUMN_TYPE_KEY, MESSAGE_TYPE[tableColumnKind]]],
  };
}

/** Returns the Arrow field of a column that does not belong to a table. */
export function plainField(name: string, type: ArrowType, isNullable = true): ArrowField {
  return { name, type, isNullable, metadata: [] };
}
