import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { BOOLEAN, FLOAT64, INT64, TIMESTAMP, UINT64, UTF8 } from '../../bind/types/bound.js';

const TYPE_OF_KIND: Readonly<Record<ColumnKind, SqlType>> = {
  time: TIMESTAMP,
  tag: { kind: 'tag' },
  float64: FLOAT64,
  int64: INT64,
  uint64: UINT64,
  utf8: UTF8,
  bool: BOOLEAN,
};

export function columnType(kind: ColumnKind): SqlType {
  return TYPE_OF_KIND[kind];
}
