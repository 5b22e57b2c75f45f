import type { CompiledSelect, CompiledSource } from '../../plan/compile/compiled-select.js';
import { areComplete, callBlocks } from '../groups/call-blocks.js';
import { aggregateColumnQuery } from '../groups/read-aggregates.js';
import { plainCalls } from '../groups/run-calls.js';
import { runSelect } from '../run-select.js';
import type { Session } from '../session.js';
import { readRowBlocks, rowBlock, rowColumnQuery } from './read-rows.js';
import { plainColumnOf, rawRequest } from './run-raw.js';
import { areSameTags, LazyBlock, type SeriesBlock, type SeriesSpan } from './series.js';
import { tableRequest } from './source-rows.js';

type TableSource = Extract<CompiledSource, { kind: 'table' }>;

/**
 * Returns the rows of `runSelect` with many series per block where the statement allows it. Passing
 * thousands of one-row series individually through each stage costs more than processing them.
 */
export async function* runBlocks(
  select: CompiledSelect,
  session: Session,
): AsyncGenerator<SeriesBlock, void, undefined> {
  session.signal.throwIfAborted();
  const [source] = select.sources;
  if (source?.kind !== 'table' || !isOnePass(select)) yield* singleBlocks(select, session);
  else if (select.calls.length === 0) yield* rowBlocks(select, source, session);
  else yield* aggregateBlocks(select, source, session);
}

async function* singleBlocks(
  select: CompiledSelect,
  session: Session,
): AsyncGenerator<SeriesBlock, void, undefined> {
  for await (const { name, tags, times, columns } of runSelect(select, session))
    yield { name, times, columns, spans: [{ tags, from: 0, to: times.length }] };
}

function isOnePass(select: CompiledSelect): boolean {
  const { sources, minNs, maxNs, offset, seriesLimit, seriesOffset } = select;
  if (sources.length !== 1 || minNs > maxNs) return false;
  return offset === 0 && seriesLimit === undefined && seriesOffset === 0;
}

/**
 * Blocks of aggregates. They come directly from memory if each series has a value for each call.
 */
async function* aggregateBlocks(
  select: CompiledSelect,
  source: TableSource,
  session: Session,
): AsyncGenerator<SeriesBlock, void, undefined> {
  const plain = plainCalls(select, source, session);
  const columnQuery = plain === undefined ? undefined : aggregateColumnQuery(plain, session);
  const result = columnQuery === undefined ? undefined : await session.readFromColumns(columnQuery);
  if (result === undefined || plain === undefined) {
    // The column query was already tried; do not repeat it.
    yield* singleBlocks(select, columnQuery === undefined ? session : withoutColumnQuery(session));
    return;
  }
  const chunks = [...result];
  if (areComplete(chunks, plain)) yield* session.yieldingSlot(callBlocks(chunks, plain));
  // Reuses the chunks that were already read; these statements issue only one request.
  else yield* singleBlocks(select, { ...session, read: () => session.yieldingSlot(chunks) });
}

const withoutColumnQuery = (session: Session): Session => ({
  ...session,
  read: (statement) => session.read({ ...statement, columnQuery: undefined }),
});

/** Blocks of unchanged columns; fields with computed values are read series by series. */
async function* rowBlocks(
  select: CompiledSelect,
  source: TableSource,
  session: Session,
): AsyncGenerator<SeriesBlock, void, undefined> {
  const request = rawRequest(select, [source]);
  const columnIndexes = select.fields.flatMap((field) => plainColumnOf(field) ?? []);
  const isUnfilled = select.fill.kind !== 'number' && select.fill.kind !== 'previous';
  if (!isUnfilled || request === undefined || columnIndexes.length !== select.fields.length) {
    yield* singleBlocks(select, session);
    return;
  }
  const rows = tableRequest(request, source);
  const columnQuery = rowColumnQuery(rows, session);
  const result = columnQuery === undefined ? undefined : await session.readFromColumns(columnQuery);
  const limited = blockLimiter(columnIndexes, select.limit);
  if (result === undefined) yield* mappedBlocks(readRowBlocks(rows, session, true), limited);
  else yield* mappedBlocks(session.yieldingSlot(result), (chunk) => limited(rowBlock(chunk, rows)));
}

const hasRows = ({ spans }: SeriesBlock): boolean => spans.length > 0;

async function* mappedBlocks<T>(
  items: AsyncIterable<T>,
  blockOf: (item: T) => SeriesBlock,
): AsyncGenerator<SeriesBlock, void, undefined> {
  for await (const item of items) {
    const block = blockOf(item);
    if (hasRows(block)) yield block;
  }
}

/** Returns a function that selects columns and applies LIMIT. Call it for the blocks in order. */
function blockLimiter(
  columnIndexes: readonly number[],
  limit: number | undefined,
): (block: SeriesBlock) => SeriesBlock {
  const limited = limit === undefined ? undefined : spanLimiter(limit);
  return (block) => {
    const { name, times, series, vectors, areSpansWhole } = block;
    const spans = limited?.(block.spans, areSpansWhole) ?? block.spans;
    const read = vectors && columnIndexes.map((index) => vectors[index]);
    const properties = { name, times, series, areSpansWhole, spans, vectors: read };
    return new LazyBlock(properties, () =>
      columnIndexes.map((index) => block.columns[index] ?? []),
    );
  };
}

/** Applies LIMIT to each series across all its pieces. */
function spanLimiter(
  limit: number,
): (spans: readonly SeriesSpan[], areWhole?: boolean) => readonly SeriesSpan[] {
  let tags: readonly string[] | undefined;
  let left = limit;
  return (spans, areWhole = false) => {
    const limited: SeriesSpan[] = [];
    for (const span of spans) {
      if (areWhole || tags === undefined || !areSameTags(tags, span.tags)) left = limit;
      tags = span.tags;
      const to = Math.min(span.to, span.from + left);
      left -= to - span.from;
      if (to > span.from) limited.push(to === span.to ? span : { ...span, to });
    }
    return limited;
  };
}
