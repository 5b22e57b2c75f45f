import type { ValidatedTable, ValidationResult } from '@plinth/tsdb-catalog/catalog.js';
import { originalLine } from '@plinth/tsdb-ingest/slow-path/original-line.js';
import {
  type BatchField,
  type ParsedBatch,
  takeParsedRows,
} from '@plinth/tsdb-model/columns/row-batch.js';
import { HISTOGRAM_LINE_END, type ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { MAX_REFUSED_LINES, type RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

/** Returns the accepted rows of a table as a batch. */
export function acceptedRows(table: ValidatedTable, schema: TableSchema): ParsedBatch {
  const { parsed, refusals } = table;
  const fields: BatchField[] = [];
  for (const field of parsed.fields) {
    const column = schema.columns.get(field.name);
    // Every row with a field of another type, or without a column, was rejected.
    if (column?.kind !== field.data.type) continue;
    fields.push({ column, data: field.data, validity: field.validity });
  }
  const batch = {
    rowCount: parsed.rowCount,
    seriesNumbers: parsed.seriesNumbers,
    times: parsed.times,
    fields,
  };
  return refusals.length === 0 ? batch : takeParsedRows(batch, rowNumbersAccepted(table));
}

/**
 * Returns the number of accepted rows that are native histograms; `undefined` for other formats.
 */
export function acceptedHistograms(
  { histogramCount }: ParsedBody,
  { tables }: ValidationResult,
): number | undefined {
  if (histogramCount === undefined) return undefined;
  const refused = tables.flatMap(({ parsed: { lineEnds }, refusals }) =>
    refusals.filter(({ row }) => lineEnds[row] === HISTOGRAM_LINE_END),
  );
  return histogramCount - refused.length;
}

function rowNumbersAccepted({ parsed, refusals }: ValidatedTable): number[] {
  const accepted: number[] = [];
  let next = 0;
  for (let row = 0; row < parsed.rowCount; row++) {
    if (refusals[next]?.row === row) next++;
    else accepted.push(row);
  }
  return accepted;
}

/** Returns all rejected lines of a request, in line order. */
export function refusedLines(
  body: Uint8Array,
  parsed: ParsedBody,
  validation: ValidationResult,
): readonly RefusedLine[] {
  if (validation.tables.every(({ refusals }) => refusals.length === 0)) return parsed.refused;
  const bySchema = validation.tables.flatMap(({ parsed: table, refusals }) =>
    refusals.slice(0, MAX_REFUSED_LINES).map(
      (refusal): RefusedLine => ({
        lineNumber: table.lineNumbers[refusal.row] as number,
        originalLine:
          parsed.format !== undefined
            ? table.table
            : originalLine(
                body,
                table.lineStarts[refusal.row] as number,
                table.lineEnds[refusal.row] as number,
              ),
        message: refusal.message,
        reason: refusal.reason,
      }),
    ),
  );
  return [...parsed.refused, ...bySchema]
    .sort((a, b) => a.lineNumber - b.lineNumber)
    .slice(0, MAX_REFUSED_LINES);
}
