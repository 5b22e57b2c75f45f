import type { CompiledSelect, CompiledSource } from '../plan/compiled-select.js';
import { areComplete, callBlocks } from './call-blocks.js';
import { directAggregates } from './read-aggregates.js';
import { readRowBlocks } from './read-rows.js';
import { plainCalls } from './run-calls.js';
import { plainColumnOf, rawRequest } from './run-raw.js';
import { runSelect } from './run-select.js';
import { areSameTags, LazyBlock, type SeriesBlock, type SeriesSpan } from './series.js';
import type { Session } from './session.js';
import { tableRequest } from './source-rows.js';

type TableSource = Extract<CompiledSource, { kind: 'table' }>;
type NamedBlock = SeriesBlock & { readonly name: string };

/**
 * The rows of `runSelect`, of many series at a time where the statement allows it: thousands of series of one row each would
 * otherwise pass one by one through each of its stages, which takes longer than all that is done with them.
 */
export async function* runBlocks(
  select: CompiledSelect,
  session: Session,
): AsyncGenerator<NamedBlock, void, undefined> {
  const [source] = select.sources;
  session.signal.throwIfAborted();
  if (source?.kind !== 'table' || !isOnePass(select)) {
    yield* singleBlocks(select, session);
    return;
  }
  const blocks =
    select.calls.length === 0
      ? rawBlocks(select, source, session)
      : await aggregateBlocks(select, source, session);
  const { name } = source;
  for await (const block of blocks) {
    const { spans, times, series, vectors, areSpansWhole } = block;
    if (spans.length === 0) continue;
    const facts = { name, spans, times, series, vectors, areSpansWhole };
    yield new LazyBlock(facts, () => block.columns);
  }
}

async function* singleBlocks(
  select: CompiledSelect,
  session: Session,
): AsyncGenerator<NamedBlock, void, undefined> {
  for await (const { name, tags, times, columns } of runSelect(select, session))
    yield { name, times, columns, spans: [{ tags, from: 0, to: times.length }] };
}

function isOnePass(select: CompiledSelect): boolean {
  const { sources, minNs, maxNs, offset, seriesLimit, seriesOffset } = select;
  if (sources.length !== 1 || minNs > maxNs) return false;
  return offset === 0 && seriesLimit === undefined && seriesOffset === 0;
}

/** Of aggregates: at once where rows in memory answer and each series has a value for each call. */
async function aggregateBlocks(
  select: CompiledSelect,
  source: TableSource,
  session: Session,
): Promise<AsyncIterable<SeriesBlock>> {
  const plain = plainCalls(select, source, session);
  const direct = plain === undefined ? undefined : directAggregates(plain, session);
  const answer = direct === undefined ? undefined : await session.readDirectly(direct);
  if (plain === undefined || answer === undefined) return singleBlocks(select, session);
  const chunks = [...answer];
  if (areComplete(chunks, plain)) return session.lending(callBlocks(chunks, plain));
  // The one question of these statements is answered already.
  return singleBlocks(select, { ...session, read: () => session.lending(chunks) });
}

/** Of columns as they are read; series by series when something is computed of them. */
function rawBlocks(
  select: CompiledSelect,
  source: TableSource,
  session: Session,
): AsyncIterable<SeriesBlock> {
  const request = rawRequest(select, [source]);
  const places = select.fields.flatMap((field) => plainColumnOf(field) ?? []);
  const isPlain = select.fill.kind !== 'number' && select.fill.kind !== 'previous';
  if (!isPlain || request === undefined || places.length !== select.fields.length)
    return singleBlocks(select, session);
  return cutBlocks(readRowBlocks(tableRequest(request, source), session), places, select.limit);
}

async function* cutBlocks(
  blocks: AsyncIterable<SeriesBlock>,
  places: readonly number[],
  limit: number | undefined,
): AsyncGenerator<SeriesBlock, void, undefined> {
  const cut = limit === undefined ? undefined : cutter(limit);
  for await (const block of blocks) {
    const { times, series, vectors, areSpansWhole } = block;
    const spans = cut?.(block.spans, areSpansWhole) ?? block.spans;
    const read = vectors && places.map((place) => vectors[place]);
    const facts = { name: '', times, series, areSpansWhole, spans, vectors: read };
    yield new LazyBlock(facts, () => places.map((place) => block.columns[place] ?? []));
  }
}

/** LIMIT of each series, over all its pieces. */
function cutter(
  limit: number,
): (spans: readonly SeriesSpan[], areWhole?: boolean) => readonly SeriesSpan[] {
  let tags: readonly string[] | undefined;
  let left = limit;
  return (spans, areWhole = false) => {
    const kept: SeriesSpan[] = [];
    for (const span of spans) {
      if (areWhole || tags === undefined || !areSameTags(tags, span.tags)) left = limit;
      tags = span.tags;
      const to = Math.min(span.to, span.from + left);
      left -= to - span.from;
      if (to > span.from) kept.push(to === span.to ? span : { ...span, to });
    }
    return kept;
  };
}
