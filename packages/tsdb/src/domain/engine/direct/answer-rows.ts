import { setImmediate } from 'node:timers/promises';
import type { DirectRequest, DirectRows } from '../../../model/direct-request.js';
import type { ResultChunk } from '../../../model/result.js';
import type { SeriesIndex } from '../series-index.js';
import { compacted, MAX_COMPACTED_VALUES } from './compact-rows.js';
import { rowFilter, SLICE_ROWS } from './matching-rows.js';
import { type PickedRows, RowChunks } from './row-chunks.js';
import { type Runs, runsWithin } from './runs.js';
import { seriesRanks } from './series-ranks.js';
import type { LoadedRows } from './table-columns.js';

/** More rows are looked at by the engine, which uses all cores, and sorted by it. */
const MAX_LOOKED_AT = 16_000_000;
const MAX_PICKED = 500_000;
const MAX_SOURCES = 65_535;
/** Values after which others get their turn. */
const ROWS_PER_TURN = 1_000_000;
const CHUNK_ROWS = 2048;
/** So many rows are taken together before they are looked at in the order of their times. */
const LEAST_COMPACTED = 4096;
/** Times are sorted by counting when there are at most so many different ones for each row. */
const SLOTS_PER_ROW = 16;

/** Rows in the order of their times; `undefined`: not faster than by the engine. */
export async function answerRows(ask: {
  readonly request: DirectRequest;
  readonly answer: DirectRows;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  readonly series: readonly number[] | undefined;
}): Promise<Iterable<ResultChunk> | undefined> {
  const { request, answer, loaded, index } = ask;
  const found = runsWithin(loaded, ask.series, request);
  if (found.rowCount > MAX_LOOKED_AT || loaded.length > MAX_SOURCES) return undefined;
  // Rows are sorted by time alone: those of one time stay in the order in which they are looked at.
  const runs =
    answer.tieBreakers.length === 0 ? found : inTagOrder(found, index, answer, answer.descending);
  const matching = await pickRows(request, runs, loaded);
  if (matching === undefined) return undefined;
  const { picked, loaded: rows } = isWorthCompacting(matching, answer)
    ? compacted(matching, loaded)
    : { picked: matching, loaded };
  const sorted = sortedByTime(picked, rows, answer.descending);
  if (sorted === undefined) return undefined;
  const end =
    answer.limit === undefined
      ? sorted.rows.length
      : Math.min(sorted.rows.length, answer.offset + answer.limit);
  const chunks = new RowChunks({
    ...{ loaded: rows, columns: answer.columns, index },
    tagsBy: 'series',
  });
  return chunksOf(chunks, sorted, {
    from: Math.min(answer.offset, end),
    to: end,
  });
}

function isWorthCompacting({ rows }: PickedRows, { columns, limit }: DirectRows): boolean {
  return (
    limit === undefined &&
    rows.length >= LEAST_COMPACTED &&
    rows.length * columns.length <= MAX_COMPACTED_VALUES
  );
}

function* chunksOf(
  chunks: RowChunks,
  picked: PickedRows,
  range: { readonly from: number; readonly to: number },
): Generator<ResultChunk, void, undefined> {
  for (let from = range.from; from < range.to; from += CHUNK_ROWS)
    yield chunks.chunk(picked, from, Math.min(range.to, from + CHUNK_ROWS));
}

/** The rows of the runs that meet the conditions, run by run. */
async function pickRows(
  { fieldConditions }: DirectRequest,
  runs: Runs,
  loaded: readonly LoadedRows[],
): Promise<PickedRows | undefined> {
  const takesAll = fieldConditions.length === 0;
  if (takesAll && runs.rowCount > MAX_PICKED) return undefined;
  const picked = new GrowingRows(takesAll ? runs.rowCount : 1024);
  const rows = new Uint32Array(SLICE_ROWS);
  const filters = new Map<number, ReturnType<typeof rowFilter>>();
  let looked = 0;
  for (let run = 0; run < runs.source.length; run++) {
    const source = runs.source[run] as number;
    if (!filters.has(source))
      filters.set(source, rowFilter(loaded[source] as LoadedRows, fieldConditions));
    const filter = filters.get(source);
    if (filter === undefined) continue;
    const to = runs.to[run] as number;
    for (let from = runs.from[run] as number; from < to; from += SLICE_ROWS) {
      const count = Math.min(to - from, SLICE_ROWS);
      for (let i = 0; i < count; i++) rows[i] = from + i;
      picked.add(source, runs.series[run] as number, rows, filter(rows, count));
      looked += count;
    }
    if (picked.count > MAX_PICKED) return undefined;
    if (looked < ROWS_PER_TURN) continue;
    looked = 0;
    await setImmediate();
  }
  return picked.taken();
}

/** The runs by the values of tags of their series. */
function inTagOrder(
  runs: Runs,
  index: SeriesIndex,
  { tieBreakers }: DirectRows,
  isDescending: boolean,
): Runs {
  const ranks = seriesRanks(runs.series, index, tieBreakers);
  const sign = isDescending ? -1 : 1;
  const order = Array.from(runs.series, (series) => (ranks.get(series) ?? 0) * sign);
  const places = Array.from(order.keys()).sort(
    (a, b) => (order[a] as number) - (order[b] as number) || a - b,
  );
  const taken = (values: Uint32Array): Uint32Array =>
    Uint32Array.from(places, (place) => values[place] as number);
  return {
    ...runs,
    source: taken(runs.source),
    series: taken(runs.series),
    from: taken(runs.from),
    to: taken(runs.to),
  };
}

class GrowingRows {
  count = 0;
  #sources: Uint16Array;
  #rows: Uint32Array;
  #series: Uint32Array;

  constructor(capacity: number) {
    this.#sources = new Uint16Array(capacity);
    this.#rows = new Uint32Array(capacity);
    this.#series = new Uint32Array(capacity);
  }

  add(source: number, series: number, rows: Uint32Array, count: number): void {
    const end = this.count + count;
    if (end > this.#rows.length) this.#grow(end);
    this.#sources.fill(source, this.count, end);
    this.#series.fill(series, this.count, end);
    if (count === rows.length) this.#rows.set(rows, this.count);
    else this.#rows.set(rows.subarray(0, count), this.count);
    this.count = end;
  }

  taken(): PickedRows {
    return {
      sources: this.#sources.subarray(0, this.count),
      rows: this.#rows.subarray(0, this.count),
      series: this.#series.subarray(0, this.count),
    };
  }

  #grow(least: number): void {
    const capacity = Math.max(least, this.#rows.length * 2);
    const sources = new Uint16Array(capacity);
    sources.set(this.#sources);
    this.#sources = sources;
    const rows = new Uint32Array(capacity);
    rows.set(this.#rows);
    this.#rows = rows;
    const series = new Uint32Array(capacity);
    series.set(this.#series);
    this.#series = series;
  }
}

/** `undefined`: the times are too far apart to be told from each other as doubles. */
function sortedByTime(
  picked: PickedRows,
  loaded: readonly LoadedRows[],
  isDescending: boolean,
): PickedRows | undefined {
  const { sources, rows } = picked;
  const count = rows.length;
  const places = placesInTime(picked, loaded);
  if (places === undefined) return undefined;
  const { slots, slotCount } = places;
  let isSorted = true;
  for (let i = 1; i < count && isSorted; i++) {
    const [a, b] = [slots[i - 1] as number, slots[i] as number];
    isSorted = isDescending ? a >= b : a <= b;
  }
  if (isSorted) return picked;
  const order = new Uint32Array(count);
  if (slotCount <= count * SLOTS_PER_ROW + 65536) {
    const starts = new Uint32Array(slotCount + 1);
    const placeOf = (slot: number): number => (isDescending ? slotCount - 1 - slot : slot);
    for (let i = 0; i < count; i++) {
      const place = placeOf(slots[i] as number) + 1;
      starts[place] = (starts[place] as number) + 1;
    }
    for (let i = 1; i < starts.length; i++)
      starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    for (let i = 0; i < count; i++) {
      const place = placeOf(slots[i] as number);
      const at = starts[place] as number;
      order[at] = i;
      starts[place] = at + 1;
    }
  } else {
    for (let i = 0; i < count; i++) order[i] = i;
    const sign = isDescending ? -1 : 1;
    order.sort((a, b) => sign * ((slots[a] as number) - (slots[b] as number)) || a - b);
  }
  const sorted = {
    sources: new Uint16Array(count),
    rows: new Uint32Array(count),
    series: new Uint32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const from = order[i] as number;
    sorted.sources[i] = sources[from] as number;
    sorted.rows[i] = rows[from] as number;
    sorted.series[i] = picked.series[from] as number;
  }
  return sorted;
}

/** For each row the place of its time on one scale of all parts, from 0 on. */
function placesInTime(
  { sources, rows }: PickedRows,
  loaded: readonly LoadedRows[],
): { readonly slots: Float64Array; readonly slotCount: number } | undefined {
  const slots = new Float64Array(rows.length);
  const used = [...new Set(sources)];
  const parts = used.map((source) => (loaded[source] as LoadedRows).part);
  const [first] = parts;
  if (first === undefined) return { slots, slotCount: 0 };
  const baseNs = parts.reduce((min, part) => (part.baseNs < min ? part.baseNs : min), first.baseNs);
  // The scale's unit divides every part's unit and the distances of their beginnings.
  let unitNs = 0n;
  for (const part of parts) {
    unitNs = greatestDivisor(unitNs, BigInt(part.unitNs));
    unitNs = greatestDivisor(unitNs, part.baseNs - baseNs);
  }
  const starts = new Map<number, { readonly start: number; readonly scale: number }>();
  used.forEach((source, i) => {
    const part = parts[i] as (typeof parts)[number];
    starts.set(source, {
      start: Number((part.baseNs - baseNs) / unitNs),
      scale: Number(BigInt(part.unitNs) / unitNs),
    });
  });
  let max = 0;
  let source = -1;
  let offsets = first.offsets;
  let place = { start: 0, scale: 1 };
  for (let i = 0; i < rows.length; i++) {
    if (sources[i] !== source) {
      source = sources[i] as number;
      offsets = (loaded[source] as LoadedRows).part.offsets;
      place = starts.get(source) ?? place;
    }
    const slot = place.start + (offsets[rows[i] as number] as number) * place.scale;
    if (slot > max) max = slot;
    slots[i] = slot;
  }
  return Number.isSafeInteger(max) ? { slots, slotCount: max + 1 } : undefined;
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}
