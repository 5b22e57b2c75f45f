import { isSameSeries, type Series } from './series.js';
import { sliceOf } from './vector-values.js';

/** LIMIT and OFFSET of each series. */
export function cutRows(
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

export function slicePiece(piece: Series, from: number, to: number): Series {
  return {
    ...piece,
    times: sliceOf(piece.times, from, to),
    columns: piece.columns.map((column) => sliceOf(column, from, to)),
  };
}

/** SLIMIT and SOFFSET: of the series of each table. */
export function cutSeries(
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
