import type { Asker } from '../../../model/asker.js';
import type { OutputColumn, ResultChunk } from '../../../model/columns/result.js';
import type { TableSchema } from '../../../model/schema.js';
import {
  CHUNK_ROWS,
  type DuckDbHost,
  rowSizeOf,
  type Statements,
} from '../../../storage/duckdb/duckdb-host.js';
import type { PlannedQuery } from '../../sql/planned-query.js';
import type { PreparedScan, ScanParts } from '../scan/prepared-scan.js';
import { type TimeSlice, TimeSlices } from '../scan/time-slices.js';
import type { SeriesIndex } from '../series/series-index.js';
import { SeriesTags } from '../series/series-tags.js';
import { RowWidth } from './slices/row-width.js';
import type { SliceMemory, SliceRoom } from './slices/slice-memory.js';

/** Narrow answers of about so many rows are made in one piece if there is memory: asking twice would take longer than sorting. */
const MAX_WHOLE_ROWS = 200_000;
/** A slice looks at the times of all rows: less is not worth that. */
const LEAST_BYTES = 1024 * 1024;
/** Answers of short texts are sliced from so many rows on, of longer texts from so many bytes on. */
const MIN_SLICED_ROWS = 8192;
const MIN_SLICED_BYTES = 4 * 1024 * 1024;
/** The rows that tell how long texts are: they may be very long. */
const PROBE_ROWS = 16;
/** A chunk of very long texts is the slice: it is decoded in one piece, in which nobody else gets a turn. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;
/** Slices of one chunk are made ahead as chunks are: so many are held at a time. */
const MAX_HELD_CHUNKS = 3;
/** So many times the rows and the bytes that were guessed are taken over from the engine; what is beyond stays with it. */
const MAX_WRONG = 2;

/** A query whose answer may be too large to be held, in the order of time: one statement for each slice of it. */
export class QueryParts {
  readonly #slices: TimeSlices;
  readonly #seriesTags: SeriesTags;
  readonly #textOf: (slice: TimeSlice) => string;
  readonly #texts: Texts;

  private constructor(options: {
    readonly slices: TimeSlices;
    readonly seriesTags: SeriesTags;
    readonly textOf: (slice: TimeSlice) => string;
    readonly texts: Texts;
  }) {
    this.#slices = options.slices;
    this.#seriesTags = options.seriesTags;
    this.#textOf = options.textOf;
    this.#texts = options.texts;
  }

  /** `undefined`: the answer has another order, comes from several tables or is very small. */
  static of(
    planned: PlannedQuery,
    scans: readonly PreparedScan[],
    seriesOf: (table: TableSchema) => SeriesIndex,
  ): QueryParts | undefined {
    const parts = scans[0]?.parts;
    const table = planned.scans[0]?.table;
    if (planned.timeOrder === undefined || scans.length !== 1) return undefined;
    if (parts === undefined || table === undefined) return undefined;
    const { bounds, spans } = parts;
    const isDescending = planned.timeOrder === 'descending';
    const width = new RowWidth(planned.columns, parts.textBytes).bytes;
    const fewRows = width === undefined ? PROBE_ROWS : MIN_SLICED_BYTES / width;
    const isNarrow = rowSizeOf(planned.columns) !== undefined;
    const leastRows = isNarrow ? MIN_SLICED_ROWS : Math.min(MIN_SLICED_ROWS, fewRows);
    const slices = TimeSlices.of({ bounds, spans, isDescending, leastRows });
    if (slices === undefined) return undefined;
    const tags = planned.passedTags ?? [];
    const names = tags.map(({ tag }) => tag);
    return new QueryParts({
      slices,
      seriesTags: new SeriesTags(seriesOf(table), tags),
      textOf: (slice) => planned.render(() => parts.textOf(slice, names)),
      texts: parts,
    });
  }

  /** It must not be made in one piece, even if there is memory. */
  isLarge(columns: readonly OutputColumn[]): boolean {
    return this.#slices.rowCount > MAX_WHOLE_ROWS || rowSizeOf(columns) === undefined;
  }

  /** Holds one slice for a reader that is slow. Can be read once. */
  async *rows(options: {
    readonly host: DuckDbHost;
    readonly memory: SliceMemory;
    readonly columns: readonly OutputColumn[];
    readonly asker: Asker;
  }): AsyncGenerator<ResultChunk, void, undefined> {
    const { host, memory, columns, asker } = options;
    const { signal, owner } = asker;
    const width = new RowWidth(columns, this.#texts.textBytes);
    const room = memory.begin();
    try {
      const text = this.#statements(room, width);
      for await (const chunk of host.stream({ text, columns, isSmall: false, signal, owner })) {
        yield this.#seriesTags.decode(chunk);
      }
    } finally {
      room.end();
      const { seenTextBytes } = width;
      if (seenTextBytes !== undefined) this.#texts.noteTextBytes(seenTextBytes);
    }
  }

  *#statements(room: SliceRoom, width: RowWidth): Statements {
    for (;;) {
      const fittingBytes = room.fittingBytes();
      const slice = this.#slices.next(rowsFitting(fittingBytes, width.bytes));
      if (slice === undefined) return;
      const heldCount = slice.rowCount < CHUNK_ROWS ? MAX_HELD_CHUNKS : 1;
      room.hold(heldCount * slice.rowCount * (width.bytes ?? 0));
      let madeBytes = 0;
      const end = yield {
        text: this.#textOf(slice),
        takesOver: (rowCount) =>
          room.isTight() &&
          rowCount <= slice.rowCount * MAX_WRONG &&
          madeBytes <= fittingBytes * MAX_WRONG,
        makeTurn: (asker) => room.makeTurn(asker),
        onChunk: (chunk) => {
          madeBytes += width.see(chunk);
          room.hold(heldCount * Math.max(madeBytes, slice.rowCount * (width.bytes ?? 0)));
        },
      };
      if (end !== undefined) this.#slices.ended(end);
    }
  }
}

type Texts = Pick<ScanParts, 'textBytes' | 'noteTextBytes'>;

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
