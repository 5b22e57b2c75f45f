import type { OutputColumn, ResultChunk } from '../../../model/result.js';
import type { TableSchema } from '../../../model/schema.js';
import {
  type DuckDbHost,
  rowSizeOf,
  type Statements,
} from '../../../storage/duckdb/duckdb-host.js';
import type { PlannedQuery } from '../../sql/planned-query.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { type TimeSlice, TimeSlices } from '../scan/time-slices.js';
import type { SeriesIndex } from '../series/series-index.js';
import { SeriesTags } from '../series/series-tags.js';
import { RowWidth } from './row-width.js';
import type { SliceMemory, SliceRoom } from './slice-memory.js';

/** Narrow answers of about so many rows are made in one piece if there is memory: asking twice would take longer than sorting. */
const MAX_WHOLE_ROWS = 200_000;
/** A slice looks at the times of all rows: less is not worth that. */
const LEAST_BYTES = 1024 * 1024;
/** So many times the rows that were guessed are taken over from the engine; what is beyond stays with it. */
const MAX_WRONG = 2;

/** A query whose answer may be too large to be held, in the order of time: one statement for each slice of it. */
export class QueryParts {
  readonly #slices: TimeSlices;
  readonly #seriesTags: SeriesTags;
  readonly #textOf: (slice: TimeSlice) => string;

  private constructor(
    slices: TimeSlices,
    seriesTags: SeriesTags,
    textOf: (slice: TimeSlice) => string,
  ) {
    this.#slices = slices;
    this.#seriesTags = seriesTags;
    this.#textOf = textOf;
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
    const slices = TimeSlices.of({ bounds, spans, isDescending });
    if (slices === undefined) return undefined;
    const tags = planned.passedTags ?? [];
    const names = tags.map(({ tag }) => tag);
    return new QueryParts(slices, new SeriesTags(seriesOf(table), tags), (slice) =>
      planned.render(() => parts.textOf(slice, names)),
    );
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
    readonly signal: AbortSignal;
  }): AsyncGenerator<ResultChunk, void, undefined> {
    const { host, memory, columns, signal } = options;
    const width = new RowWidth(columns);
    const room = memory.begin();
    try {
      const text = this.#statements(room, width);
      for await (const chunk of host.stream({ text, columns, isSmall: false, signal })) {
        yield this.#seriesTags.decode(chunk);
      }
    } finally {
      room.end();
    }
  }

  *#statements(room: SliceRoom, width: RowWidth): Statements {
    for (;;) {
      const slice = this.#slices.next({
        fitting: room.fittingBytes() / width.bytes,
        least: LEAST_BYTES / width.bytes,
      });
      if (slice === undefined) return;
      room.hold(slice.rowCount * width.bytes);
      const end = yield {
        text: this.#textOf(slice),
        wholeRows: room.isTight() ? slice.rowCount * MAX_WRONG : 0,
        makeTurn: (signal) => room.makeTurn(signal),
        onChunk: (chunk) => {
          width.see(chunk);
          room.hold(slice.rowCount * width.bytes);
        },
      };
      if (end !== undefined) this.#slices.ended(end);
    }
  }
}
