import type { FieldColumn } from './field-column.js';

/** One field name of a table and its columns, one per type that was met. */
export class FieldSlot {
  readonly name: string;
  int64: FieldColumn | undefined;
  uint64: FieldColumn | undefined;
  float64: FieldColumn | undefined;
  bool: FieldColumn | undefined;
  utf8: FieldColumn | undefined;
  /** Number of the line that was last tried with this field: tells a field that a line names twice. */
  attempt = -1;

  constructor(name: string) {
    this.name = name;
  }
}
