import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { ShowClauses } from '../ast/statements.js';
import { ValueBudget } from '../execute/value-budget.js';
import type { TableSource } from '../plan/compile/source.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import { Heap } from './heap.js';
import { matchingSeries, type SeriesReading, tagKeys } from './matching-series.js';
import { pickedCount, SmallestTexts } from './smallest-texts.js';

/** Maximum number of keys per piece of the result. */
const PIECE_KEYS = 2048;
/** Maximum number of keys and characters sorted without yielding; takes several milliseconds. */
const RUN_KEYS = 2048;
const RUN_CHARACTERS = 262_144;
/** Number of characters after which a piece of the result ends. */
const PIECE_CHARACTERS = 1_048_576;
/** Number of characters that use as much memory as one value of the budget. */
const CHARACTERS_PER_VALUE = 8;
/** Number of keys merged between two checks of whether a yield is due. */
const MERGED_KEYS = 64;

type KeyOf = (ordinal: number) => string;

/** Yields distinct series keys in line protocol form, ascending, in pieces. */
export async function* seriesKeys(
  show: Pick<ShowClauses, 'condition' | 'limit' | 'offset'>,
  sources: readonly TableSource[],
  reading: SeriesReading,
): AsyncGenerator<readonly string[], void, undefined> {
  const { limit, offset = 0 } = show;
  const picked = pickedCount(show);
  const pieces =
    picked === undefined
      ? allKeys(show, sources, reading)
      : firstKeys(show, sources, reading, picked);
  let from = offset;
  let left = limit === undefined || limit === 0 ? Number.POSITIVE_INFINITY : limit;
  for await (const keys of pieces) {
    const piece = keys.slice(from, from + left);
    from -= Math.min(from, keys.length);
    left -= piece.length;
    if (piece.length > 0) yield piece;
    if (left === 0) return;
  }
}

async function* firstKeys(
  show: Pick<ShowClauses, 'condition'>,
  sources: readonly TableSource[],
  reading: SeriesReading,
  count: number,
): AsyncGenerator<readonly string[], void, undefined> {
  const budget = new ValueBudget(reading.session);
  const smallest = new SmallestTexts(count);
  for await (const { keyOf, batch } of keyBatches(show, sources, reading)) {
    for (const ordinal of batch) {
      const before = smallest.characters;
      smallest.add(keyOf(ordinal));
      budget.add((smallest.characters - before) / CHARACTERS_PER_VALUE);
    }
  }
  yield await reading.task.run(smallest.sorted());
}

/** Merges sorted runs. Runs contain only series numbers, and keys are rebuilt during the merge. */
async function* allKeys(
  show: Pick<ShowClauses, 'condition'>,
  sources: readonly TableSource[],
  reading: SeriesReading,
): AsyncGenerator<readonly string[], void, undefined> {
  const budget = new ValueBudget(reading.session);
  const runs: KeyRun[] = [];
  let run = new RunBuilder();
  const end = (): void => {
    budget.add(run.size);
    runs.push(run.sorted());
    run = new RunBuilder();
  };
  for await (const { keyOf, batch } of keyBatches(show, sources, reading)) {
    for (const ordinal of batch) {
      run.add(keyOf, ordinal);
      if (!run.isFull) continue;
      end();
      await reading.task.yieldIfDue();
    }
  }
  if (run.size > 0) end();
  yield* mergedRuns(runs, budget, reading);
}

async function* keyBatches(
  { condition }: Pick<ShowClauses, 'condition'>,
  sources: readonly TableSource[],
  reading: SeriesReading,
): AsyncGenerator<{ readonly keyOf: KeyOf; readonly batch: readonly number[] }> {
  const split = splitCondition(condition, { nowNs: reading.session.nowNs, zone: undefined });
  for (const source of sources) {
    let keyOf: KeyOf | undefined;
    for await (const batch of matchingSeries(source, split, reading)) {
      keyOf ??= keyMaker(source, reading);
      yield { keyOf, batch };
    }
  }
}

function keyMaker(source: TableSource, { session }: SeriesReading): KeyOf {
  const index = session.seriesOf(source.table);
  const name = source.name.replace(/[, ]/g, '\\$&');
  const tags = tagKeys(source)
    .sort(compareByteOrder)
    .map((tag) => ({ tag, lead: `,${escaped(tag)}=` }));
  return (ordinal) => {
    let key = name;
    for (const { tag, lead } of tags) {
      const value = index.tagValue(ordinal, tag);
      if (value !== undefined) key += lead + escaped(value);
    }
    return key;
  };
}

const escaped = (text: string): string => text.replace(/[,= ]/g, '\\$&');

/** Series sorted by key. */
interface KeyRun {
  readonly size: number;
  keyAt(place: number): string;
}

class RunBuilder {
  readonly #keys: string[] = [];
  readonly #series: number[] = [];
  /** Offset of the first series of each table. */
  readonly #tables: { readonly keyOf: KeyOf; readonly from: number }[] = [];
  #characters = 0;

  get size(): number {
    return this.#keys.length;
  }

  get isFull(): boolean {
    return this.size >= RUN_KEYS || this.#characters >= RUN_CHARACTERS;
  }

  add(keyOf: KeyOf, ordinal: number): void {
    const key = keyOf(ordinal);
    if (this.#tables.at(-1)?.keyOf !== keyOf) this.#tables.push({ keyOf, from: this.size });
    this.#keys.push(key);
    this.#series.push(ordinal);
    this.#characters += key.length;
  }

  sorted(): KeyRun {
    const keys = this.#keys;
    const places = keys.map((_, place) => place);
    places.sort((a, b) => compareByteOrder(keys[a] as string, keys[b] as string));
    const order = Uint32Array.from(places);
    const series = Uint32Array.from(this.#series);
    const tables = this.#tables;
    return {
      size: order.length,
      keyAt(at) {
        const place = order[at] as number; // below `size`
        const table = tables.findLast(({ from }) => from <= place);
        return table?.keyOf(series[place] as number) ?? '';
      },
    };
  }
}

const valuesOf = (key: string): number => Math.ceil(key.length / CHARACTERS_PER_VALUE);

async function* mergedRuns(
  runs: readonly KeyRun[],
  budget: ValueBudget,
  { task }: SeriesReading,
): AsyncGenerator<readonly string[], void, undefined> {
  const heap = new Heap<{ readonly key: string; readonly run: KeyRun; readonly place: number }>(
    (a, b) => compareByteOrder(a.key, b.key) < 0,
  );
  // The budget counts one complete key per run, however long it is.
  const next = (run: KeyRun, place: number) => {
    const key = run.keyAt(place);
    budget.add(valuesOf(key));
    return { key, run, place };
  };
  for (const run of runs) heap.push(next(run, 0));
  let last: string | undefined;
  let piece: string[] = [];
  let characters = 0;
  for (let count = 0; ; count++) {
    const { top } = heap;
    if (top === undefined) break;
    if (count % MERGED_KEYS === 0) await task.yieldIfDue();
    if (top.key !== last) {
      piece.push(top.key);
      characters += top.key.length;
    }
    last = top.key;
    budget.add(-valuesOf(top.key));
    const place = top.place + 1;
    if (place === top.run.size) heap.pop();
    else heap.replaceTop(next(top.run, place));
    if (piece.length < PIECE_KEYS && characters < PIECE_CHARACTERS) continue;
    yield piece;
    piece = [];
    characters = 0;
  }
  if (piece.length > 0) yield piece;
}
