import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { RowsStatement } from '@plinth/tsdb-model/query/planned-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { CHUNK_ROWS, type DuckDbHost, rowSizeOf } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type {
  Statement,
  StatementEnd,
  Statements,
} from '@plinth/tsdb-storage/duckdb/statement-chunks.js';
import { GroupSlices } from '../scan/group-slices.js';
import type { PreparedScan, ScanGroups, SliceableScan } from '../scan/prepared-scan.js';
import { lengthOf, type ScanSlice, type Slices, TimeSlices } from '../scan/time-slices.js';
import type { SeriesIndex } from '../series/series-index.js';
import { SeriesTagDecoder } from '../series/series-tag-decoder.js';
import { CountedGroups, GROUP_COLUMNS } from './slices/counted-groups.js';
import { RowWidth } from './slices/row-width.js';
import type { SliceMemory, SliceReservation } from './slices/slice-memory.js';

/**
 * Narrow results of about this many rows are computed in one statement if memory allows, because
 * two queries would take longer than sorting.
 */
const MAX_WHOLE_ROWS = 200_000;
/** Each slice scans the timestamps of all rows, which is not worthwhile for smaller slices. */
const LEAST_BYTES = 1024 * 1024;
/**
 * Thresholds for slicing: rows for results with short strings, bytes for those with longer strings.
 */
const MIN_SLICED_ROWS = 8192;
const MIN_SLICED_BYTES = 4 * 1024 * 1024;
/** Number of rows read to estimate string lengths, which may be very long. */
const PROBE_ROWS = 16;
/** A chunk of very long strings is a separate slice, because decoding it blocks the event loop. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;
/** Maximum number of prefetched slices of one chunk. */
const MAX_HELD_CHUNKS = 3;
/** If a slice exceeds the estimated rows or bytes by this factor, the rest stays in DuckDB. */
const MAX_WRONG = 2;

/**
 * A query whose result may be too large for memory, divided by time or by group into one statement
 * per slice.
 */
export class SlicedQuery {
  readonly #planned: RowsStatement;
  readonly #scan: SliceableScan;
  readonly #slices: TimeSlices;
  readonly #index: SeriesIndex;
  /** Estimated maximum row count of the result. */
  readonly #rowCount: number;

  private constructor(options: {
    readonly planned: RowsStatement;
    readonly scan: SliceableScan;
    readonly slices: TimeSlices;
    readonly index: SeriesIndex;
    readonly rowCount: number;
  }) {
    this.#planned = options.planned;
    this.#scan = options.scan;
    this.#slices = options.slices;
    this.#index = options.index;
    this.#rowCount = options.rowCount;
  }

  /** Returns `undefined` if the result has another order, reads several tables or is very small. */
  static of(
    planned: RowsStatement,
    scans: readonly PreparedScan[],
    seriesOf: (table: TableSchema) => SeriesIndex,
  ): SlicedQuery | undefined {
    const { columns, timeOrder, groupTags = [], mayMaterialize } = planned;
    const scan = scans[0]?.sliceable;
    const table = planned.scans[0]?.table;
    if (scan === undefined || table === undefined || scans.length !== 1) return undefined;
    // Groups without time order mean aggregates: few rows from many.
    const isAggregated = timeOrder === undefined;
    if (isAggregated ? groupTags.length === 0 : mayMaterialize) return undefined;
    const { bounds, spans } = scan;
    const isDescending = timeOrder === 'descending';
    const width = new RowWidth(columns, scan.stringBytes).bytes;
    const fewRows = width === undefined ? PROBE_ROWS : MIN_SLICED_BYTES / width;
    const isNarrow = rowSizeOf(columns) !== undefined;
    const leastRows = isAggregated
      ? MAX_WHOLE_ROWS
      : isNarrow
        ? MIN_SLICED_ROWS
        : Math.min(MIN_SLICED_ROWS, fewRows);
    const slices = TimeSlices.of({ bounds, spans, isDescending, leastRows });
    if (slices === undefined) return undefined;
    const rowCount = Math.min(slices.rowCount, mostRowsOf(planned, scans));
    if (rowCount <= leastRows) return undefined;
    // A single group needs all rows, so it cannot be divided.
    if (isAggregated && scan.groupsBy(groupTags) === undefined) return undefined;
    return new SlicedQuery({ planned, scan, slices, index: seriesOf(table), rowCount });
  }

  /** True if the result must not be computed in one statement, even if there is memory. */
  isLarge(columns: readonly OutputColumn[]): boolean {
    return this.#rowCount > MAX_WHOLE_ROWS || rowSizeOf(columns) === undefined;
  }

  /** Keeps only one slice in memory for a slow reader. Can be read once. */
  async *rows(options: {
    readonly duckDb: DuckDbHost;
    readonly memory: SliceMemory;
    readonly columns: readonly OutputColumn[];
    readonly queryContext: QueryContext;
  }): AsyncGenerator<ResultChunk, void, undefined> {
    const { duckDb, memory, columns, queryContext } = options;
    const { signal, owner } = queryContext;
    const width = new RowWidth(columns, this.#scan.stringBytes);
    const tags = new SeriesTagDecoder(this.#index, this.#planned.lateMaterializedTags ?? []);
    const reservation = memory.begin(queryContext);
    try {
      const text = this.#statements(reservation, width);
      for await (const chunk of duckDb.stream({
        text,
        columns,
        isMaterialized: false,
        signal,
        owner,
      })) {
        yield tags.decode(chunk);
      }
    } finally {
      reservation.end();
      const { seenStringBytes } = width;
      if (seenStringBytes !== undefined) this.#scan.noteStringBytes(seenStringBytes);
    }
  }

  *#statements(reservation: SliceReservation, width: RowWidth): Statements {
    const { groupTags = [], maxRows = Number.POSITIVE_INFINITY } = this.#planned;
    const groups = this.#scan.groupsBy(groupTags);
    const slices =
      groups === undefined ? this.#slices : yield* this.#groupSlices(groups, reservation);
    // Each group has its own limit.
    let leftRows = groupTags.length === 0 ? maxRows : Number.POSITIVE_INFINITY;
    for (;;) {
      const fittingBytes = reservation.fittingBytes();
      const { fitting, least } = rowsFitting(fittingBytes, width.bytes);
      const slice = slices.next({ fitting: Math.min(fitting, leftRows), least });
      if (slice === undefined) return;
      const heldCount = slice.rowCount < CHUNK_ROWS ? MAX_HELD_CHUNKS : 1;
      reservation.setReservedBytes(heldCount * slice.rowCount * (width.bytes ?? 0));
      let madeBytes = 0;
      const end = yield {
        text: this.#textOf(slice),
        mayBuffer: (rowCount) =>
          reservation.shouldCopy() &&
          rowCount <= slice.rowCount * MAX_WRONG &&
          madeBytes <= fittingBytes * MAX_WRONG,
        acquireSlot: (queryContext) => reservation.acquireSlot(queryContext),
        onChunk: (chunk) => {
          madeBytes += width.see(chunk);
          reservation.setReservedBytes(
            heldCount * Math.max(madeBytes, slice.rowCount * (width.bytes ?? 0)),
          );
        },
      };
      if (end === undefined) continue;
      slices.ended(end);
      leftRows -= end.rowCount;
      if (leftRows <= 0) return;
    }
  }

  /** Reads the groups from the same snapshot as the slices, so neither contains later writes. */
  *#groupSlices(
    { tags, text }: ScanGroups,
    reservation: SliceReservation,
  ): Generator<Statement, Slices, StatementEnd | undefined> {
    const groups = new CountedGroups(tags, this.#index);
    yield {
      text,
      columns: GROUP_COLUMNS,
      acquireSlot: (queryContext) => reservation.acquireSlot(queryContext),
      onChunk: (chunk) => groups.add(chunk),
    };
    const { bounds, spans } = this.#scan;
    const { timeOrder } = this.#planned;
    const isDescending = timeOrder && timeOrder === 'descending';
    return new GroupSlices({ groups, bounds, spans, isDescending });
  }

  #textOf(slice: ScanSlice): string {
    const tags = (this.#planned.lateMaterializedTags ?? []).map(({ tag }) => tag);
    return this.#planned.render(() => this.#scan.scanTextOf(slice, tags));
  }
}

/** Returns the maximum row count of the result, if the statement limits it. */
export function mostRowsOf(
  { maxRows, bucketNs }: RowsStatement,
  [scan]: readonly PreparedScan[],
): number {
  if (maxRows === undefined) return Number.POSITIVE_INFINITY;
  if (bucketNs === undefined || scan?.sliceable === undefined) return maxRows;
  const lengthNs = lengthOf(scan.sliceable.bounds, scan.sliceable.spans);
  return maxRows * (Number(lengthNs / bucketNs) + 2);
}

function rowsFitting(
  sizeBytes: number,
  rowBytes: number | undefined,
): { readonly fitting: number; readonly least: number } {
  if (rowBytes === undefined) return { fitting: PROBE_ROWS, least: PROBE_ROWS };
  const chunkBytes = rowBytes * CHUNK_ROWS;
  const most = chunkBytes > MAX_CHUNK_BYTES ? Math.min(sizeBytes, MAX_CHUNK_BYTES) : sizeBytes;
  const isOneChunk = sizeBytes / MAX_HELD_CHUNKS < chunkBytes;
  const fittingBytes = isOneChunk ? Math.min(most, sizeBytes / MAX_HELD_CHUNKS) : most;
  return { fitting: fittingBytes / rowBytes, least: LEAST_BYTES / rowBytes };
}
