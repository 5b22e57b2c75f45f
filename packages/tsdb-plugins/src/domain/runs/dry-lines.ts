import { checkRows } from '@plinth/tsdb-catalog/schema-validation/check-rows.js';
import { SeriesIndex } from '@plinth/tsdb-engine/series/series-index.js';
import type { CommittedRows } from '@plinth/tsdb-engine/write/commit-listener.js';
import { LineProtocolParser } from '@plinth/tsdb-ingest/line-protocol-parser.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { DEFAULT_CATALOG_LIMITS } from '@plinth/tsdb-model/database/limits.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParsedBody, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { PluginInput } from '@plinth/tsdb-model/plugins/plugin-host.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { tagSetsOf } from '@plinth/tsdb-model/series/new-series.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { encodeWrites } from './encode-writes.js';

/**
 * Encodes the lines as a write trigger receives them, or returns the reason why they are invalid.
 * Throws `body_not_utf8`, `body_too_sparse`.
 */
export async function readDryLines(
  lines: string,
  options: { readonly database: string; readonly nowNs: bigint },
): Promise<PluginInput | string> {
  const parsed = parse(Buffer.from(lines), options);
  const [refused] = parsed.refused;
  if (refused !== undefined) return faultOf(refused);
  return await encodeWrites(parsed.tables.map(rowsOf));
}

/**
 * Returns the errors that a write of these lines would report, without changing anything. Throws
 * `body_not_utf8`, `body_too_sparse`.
 */
export function checkDryLines(
  lines: Uint8Array,
  options: {
    readonly database: string;
    readonly schema: DatabaseSchema | undefined;
    readonly nowNs: bigint;
  },
): readonly string[] {
  const parsed = parse(lines, options);
  const check = checkRows({
    database: options.schema,
    tables: parsed.tables,
    seriesOf: () => ({ tagKeys: [] }), // This parser knows no series.
    limits: DEFAULT_CATALOG_LIMITS,
    tableRoom: () => ({ tableCount: 0, limit: DEFAULT_CATALOG_LIMITS.tableCount }),
  });
  const refusals = runThrough(check).flatMap(({ parsed: table, refusals: rows }) =>
    rows.map(({ row, message }) => `line ${table.lineNumbers[row]}: ${message}`),
  );
  return [...parsed.refused.map(faultOf), ...refusals];
}

/** Uses its own parser, so that the lines do not change the catalog. */
function parse(
  lines: Uint8Array,
  { database, nowNs }: { readonly database: string; readonly nowNs: bigint },
): ParsedBody {
  const parsed = new LineProtocolParser().parse(lines, {
    database,
    precision: 'nanosecond',
    receivedNs: nowNs,
  });
  if (parsed.tooSparse !== undefined) throw tsdbError('body_too_sparse', parsed.tooSparse);
  return parsed;
}

function faultOf(refused: ParsedBody['refused'][number]): string {
  return `line ${refused.lineNumber}: ${refused.message}: ${refused.originalLine}`;
}

function rowsOf(parsed: ParsedTable): CommittedRows {
  const index = new SeriesIndex(0n);
  const ordinal = tagSetsOf(parsed.newSeries).map(({ tagKeys, tagValues }) =>
    index.resolve(tagKeys, tagValues),
  );
  const fields = parsed.fields.map(({ name, data, validity }, id) => {
    const column: Column = { id, name, kind: data.type, physicalName: name };
    return { column, data, validity };
  });
  const { rowCount, times } = parsed;
  const series = parsed.seriesNumbers.map((number) => ordinal[number - parsed.firstNewSeries] ?? 0);
  return { table: parsed.table, index, batch: { rowCount, seriesOrdinals: series, times, fields } };
}
