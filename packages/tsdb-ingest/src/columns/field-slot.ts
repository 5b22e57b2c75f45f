import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import type { FieldColumn } from './field-column.js';

/** One field name of a table, with one column per type that occurred. */
export class FieldSlot implements Record<FieldType, FieldColumn | undefined> {
  readonly name: string;
  int64: FieldColumn | undefined;
  uint64: FieldColumn | undefined;
  float64: FieldColumn | undefined;
  bool: FieldColumn | undefined;
  utf8: FieldColumn | undefined;
  /** Number of the last attempt on the fast path that used this field; detects repeated fields in a line. */
  attempt = -1;

  constructor(name: string) {
    this.name = name;
  }
}
