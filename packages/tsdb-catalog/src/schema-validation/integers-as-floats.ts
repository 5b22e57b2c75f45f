import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { FieldValues, ParsedField, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';

/** A field whose values are floats or are converted to floats. */
interface NumberField extends ParsedField {
  readonly data: Extract<FieldValues, { type: 'float64' | 'int64' | 'uint64' }>;
}

export const hasIntegers = ({ fields }: ParsedTable): boolean => fields.some(isInteger);

/**
 * Converts integer fields to floats, for a database with this option, unless the column exists with
 * a type other than float. Floats above 2^53 are not exact. The given tables are not changed,
 * because the schema may be checked again.
 * @param database `undefined` if it does not exist yet.
 * Source: tsdb-http, "Integer fields".
 */
export function* integersAsFloats(
  tables: readonly ParsedTable[],
  database: DatabaseSchema | undefined,
): Steps<readonly ParsedTable[]> {
  const converted: ParsedTable[] = [];
  for (const table of tables) {
    converted.push(yield* convertTable(table, database?.tables.get(table.table)));
  }
  return converted;
}

function* convertTable(parsed: ParsedTable, schema: TableSchema | undefined): Steps<ParsedTable> {
  const isConverted = (field: ParsedField): boolean =>
    isInteger(field) && (schema?.columns.get(field.name)?.kind ?? 'float64') === 'float64';
  const names = new Set(parsed.fields.filter(isConverted).map(({ name }) => name));
  if (names.size === 0) return parsed;
  const numbers = grouped(
    parsed.fields.filter(isNumber).filter(({ name }) => names.has(name)),
    ({ name }) => name,
  );
  const fields: ParsedField[] = parsed.fields.filter(
    (field) => !isNumber(field) || !names.has(field.name),
  );
  for (const same of numbers.values()) fields.push(yield* asFloats(same, parsed.rowCount));
  return { ...parsed, fields };
}

/**
 * Merges fields into one float field. Each row has a value in at most one of them, because parsers
 * reject repeated fields.
 */
function* asFloats(same: readonly NumberField[], rowCount: number): Steps<ParsedField> {
  const values = new Float64Array(rowCount);
  const validity = new Uint8Array(Math.ceil(rowCount / 8));
  for (const { data, validity: rows } of same) {
    for (let row = 0; row < rowCount; row++) {
      if (isStepEnd(row)) yield;
      const [index, bit] = [row >> 3, 1 << (row & 7)];
      if (rows !== undefined && ((rows[index] as number) & bit) === 0) continue;
      values[row] = Number(data.values[row]);
      (validity[index] as number) |= bit;
    }
  }
  const [first] = same as [NumberField, ...NumberField[]]; // the caller found at least one field
  const isFull = same.some((field) => field.validity === undefined);
  return {
    name: first.name,
    data: { type: 'float64', values },
    validity: isFull ? undefined : validity,
  };
}

const isInteger = ({ data }: ParsedField): boolean =>
  data.type === 'int64' || data.type === 'uint64';
const isNumber = (field: ParsedField): field is NumberField =>
  isInteger(field) || field.data.type === 'float64';
