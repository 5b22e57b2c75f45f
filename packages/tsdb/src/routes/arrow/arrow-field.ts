import { MESSAGE_TYPE } from '../../model/columns/column.js';
import type { OutputColumn } from '../../model/columns/result.js';
import type { SqlType } from '../../model/sql-type.js';

/** What no query answers with and Flight SQL needs: each value is of one of several types. */
export interface UnionType {
  readonly kind: 'union';
  /** A value says by its place here which one it has. */
  readonly members: readonly { readonly name: string; readonly type: SqlType }[];
}

/** A time of day in milliseconds, as which clients are told to send one; no query answers with it. */
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

/** Clients that make points of rows tell tags from fields by this key. Source: tsdb-http, §20.2. */
const COLUMN_TYPE_KEY = 'iox::column::type';

/** A column as clients of Flight see it: one that an expression computed says nothing about its origin. */
export function arrowFieldOf({ name, type, source }: OutputColumn): ArrowField {
  return {
    name,
    type,
    isNullable: source !== 'time',
    metadata: source === undefined ? [] : [[COLUMN_TYPE_KEY, MESSAGE_TYPE[source]]],
  };
}

/** A column that no table has. */
export function plainField(name: string, type: ArrowType, isNullable = true): ArrowField {
  return { name, type, isNullable, metadata: [] };
}
