import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { systemTable, TEXT } from '../system-table.js';

const DATA_TYPE: Readonly<Record<ColumnKind, string>> = {
  time: 'time',
  tag: 'tag',
  bool: 'boolean',
  int64: 'integer',
  uint64: 'uinteger',
  float64: 'float',
  utf8: 'string',
};

/** All columns with their InfluxQL types. */
export function influxdbSchemaTable(database: DatabaseSchema): VirtualTable {
  return systemTable({ measurement: TEXT, key: TEXT, data_type: TEXT }, () =>
    [...database.tables.values()].flatMap((table) =>
      [...table.columns.values()].map((column) => ({
        measurement: table.name,
        key: column.name,
        data_type: DATA_TYPE[column.kind],
      })),
    ),
  );
}
