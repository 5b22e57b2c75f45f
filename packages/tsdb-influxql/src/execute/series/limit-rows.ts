import { isSameSeries, type Series } from './series.js';
import { sliceOf } from './vector-values.js';

/** Applies LIMIT and OFFSET to each series. */
export function limitRows(
  pieces: AsyncIterable<Series>,
  limit: number | undefined,
  offset: number,
): AsyncIterable<Series> {
  return limit === undefined && offset === 0 ? pieces : withoutOtherRows(pieces, limit, offset);
}

async function* withoutOtherRows(
  pieces: AsyncIterable<Series>,
  limit: number | undefined,
  offset: number,
): AsyncGenerator<Series, void, undefined> {
  let before: Series | undefined;
  let seen = 0;
  for await (const piece of pieces) {
    if (before === undefined || !isSameSeries(before, piece)) seen = 0;
    before = piece;
    const count = piece.times.length;
    const from = Math.min(count, Math.max(0, offset - seen));
    const to = limit === undefined ? count : Math.min(count, Math.max(0, offset + limit - seen));
    seen += count;
    if (to > from) yield slicePiece(piece, from, to);
  }
}

/** Number of values processed before yielding to the event loop. */
const VALUES_AT_ONCE = 65_536;

/**
 * Returns the number of rows of `columnCount` columns to process before yielding to the event loop.
 */
export const rowsAtOnce = (columnCount: number): number =>
  Math.ceil(VALUES_AT_ONCE / (columnCount + 1));

/** Splits a piece of a series so that the caller can yield to the event loop between the parts. */
export function* piecesOf<T extends Pick<Series, 'times' | 'columns'>>(
  piece: T,
  columnCount = piece.columns.length,
): Generator<T, void, undefined> {
  const { length } = piece.times;
  const count = rowsAtOnce(columnCount);
  for (let from = 0; from < length; from += count)
    yield slicePiece(piece, from, Math.min(length, from + count));
}

function slicePiece<T extends Pick<Series, 'times' | 'columns'>>(
  piece: T,
  from: number,
  to: number,
): T {
  return {
    ...piece,
    times: sliceOf(piece.times, from, to),
    columns: piece.columns.map((column) => sliceOf(column, from, to)),
  };
}

/** Applies SLIMIT and SOFFSET to the series of each table. */
export function limitSeries(
  pieces: AsyncIterable<Series>,
  limit: number | undefined,
  offset: number,
): AsyncIterable<Series> {
  return limit === undefined && offset === 0 ? pieces : withoutOtherSeries(pieces, limit, offset);
}

async function* withoutOtherSeries(
  pieces: AsyncIterable<Series>,
  limit: number | undefined,
  offset: number,
): AsyncGenerator<Series, void, undefined> {
  let before: Series | undefined;
  let index = -1;
  for await (const piece of pieces) {
    if (before?.name !== piece.name) index = 0;
    else if (!isSameSeries(before, piece)) index++;
    before = piece;
    if (index >= offset && (limit === undefined || index < offset + limit)) yield piece;
  }
}
