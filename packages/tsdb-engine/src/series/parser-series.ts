import { invariant } from '@plinth/kernel';
import type { ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import { type NewSeries, packedTagsAt, tagKeysAt } from '@plinth/tsdb-model/series/new-series.js';
import type { SeriesIndex } from './series-index.js';

const UNRESOLVED = 0xffffffff;

/** New tag sets from one body of a parser, numbered from `first`. */
interface Named {
  readonly first: number;
  readonly series: NewSeries;
  /** 1 for tag sets that are or were in the index of a table. */
  readonly wasResolved: Uint8Array;
  unresolvedCount: number;
}

/** Maps one parser's series numbers of one table to the table's own index. */
class TableNumbers {
  tableId = -1;
  index: SeriesIndex | undefined;
  /**
   * Dense number by the parser's number; `UNRESOLVED` until the first row of the series is
   * accepted.
   */
  dense = new Uint32Array(64).fill(UNRESOLVED);
  /** Tag sets that contain unresolved ones, in ascending order of their numbers. */
  readonly unresolved: Named[] = [];
  /** The mapping for an earlier table of the same name that has been deleted. */
  earlier: Pick<TableNumbers, 'index' | 'dense' | 'earlier'> | undefined;
}

/**
 * Translates the series numbers of one parser epoch. An epoch ends when the parser discards its
 * numbers and counts from 0 again. Bodies of the earlier epoch that are still being processed keep
 * their own numbers. The parser sends a tag set once. A series enters the index of its table only
 * when a row of it is accepted, so rejected lines have no effect.
 */
export class ParserSeries {
  readonly epoch: number;
  readonly #tables = new Map<number, TableNumbers>();

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  /** Stores new tag sets. Must be called for every body of the epoch, in order. */
  note(tables: readonly ParsedTable[]): void {
    for (const table of tables) {
      const { newSeries: series, firstNewSeries: first } = table;
      if (series === undefined) continue;
      const numbers = this.#numbersOf(table.parserTable);
      const last = first + series.count;
      if (last > numbers.dense.length) numbers.dense = grown(numbers.dense, last);
      const { count } = series;
      const wasResolved = new Uint8Array(count);
      numbers.unresolved.push({ first, series, wasResolved, unresolvedCount: count });
    }
  }

  /** Returns the tags of a series, even if none of its rows was accepted yet. */
  tagsOf(table: ParsedTable, series: number): { readonly tagKeys: readonly string[] } {
    const numbers = this.#numbersOf(table.parserTable);
    const named = findNamed(numbers.unresolved, series);
    if (named !== undefined) return { tagKeys: tagKeysAt(named.series, series - named.first) };
    return { tagKeys: earlierTags(numbers, series).keys };
  }

  /** Replaces the parser's numbers in `series` with the numbers in `index`. */
  translate(options: {
    readonly table: ParsedTable;
    readonly tableId: number;
    readonly series: Uint32Array;
    readonly index: SeriesIndex;
  }): void {
    const numbers = this.#numbersOf(options.table.parserTable);
    if (numbers.tableId !== options.tableId) {
      if (numbers.tableId !== -1) startOver(numbers);
      numbers.tableId = options.tableId;
      numbers.index = options.index;
    }
    const { series, index } = options;
    for (let row = 0; row < series.length; row++) {
      const number = series[row] as number;
      const dense = numbers.dense[number] as number;
      series[row] = dense === UNRESOLVED ? resolve(numbers, number, index) : dense;
    }
  }

  /** Like `translate` for some rows, but returns a copy. */
  numbersOf(options: Parameters<ParserSeries['translate']>[0]): Uint32Array {
    const series = options.series.slice();
    this.translate({ ...options, series });
    return series;
  }

  /** Returns the number of rows whose series have no number in the table's index. */
  countUnresolved(table: ParsedTable, tableId: number, series: Uint32Array): number {
    const numbers = this.#numbersOf(table.parserTable);
    if (numbers.tableId !== tableId) return series.length;
    let count = 0;
    for (let row = 0; row < series.length; row++) {
      if (numbers.dense[series[row] as number] === UNRESOLVED) count++;
    }
    return count;
  }

  #numbersOf(parserTable: number): TableNumbers {
    let numbers = this.#tables.get(parserTable);
    if (numbers === undefined) {
      numbers = new TableNumbers();
      this.#tables.set(parserTable, numbers);
    }
    return numbers;
  }
}

/**
 * Another table of the same name has replaced the table: series are numbered there when their rows arrive.
 */
function startOver(numbers: TableNumbers): void {
  const { index, dense, earlier } = numbers;
  numbers.earlier = { index, dense, earlier };
  numbers.dense = new Uint32Array(dense.length).fill(UNRESOLVED);
}

/** Returns the tags of a series that was resolved before. */
function earlierTags(numbers: TableNumbers, number: number): ReturnType<SeriesIndex['tagsOf']> {
  let at: TableNumbers['earlier'] = numbers;
  while (at !== undefined && (at.dense[number] ?? UNRESOLVED) === UNRESOLVED) at = at.earlier;
  invariant(at?.index !== undefined, 'the parser used a series number without its tags');
  return at.index.tagsOf(at.dense[number] as number);
}

/**
 * Returns the tag sets that include a number; `undefined` if all series of its body are resolved.
 */
function findNamed(unresolved: readonly Named[], number: number): Named | undefined {
  let low = 0;
  let high = unresolved.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((unresolved[middle] as Named).first <= number) low = middle + 1;
    else high = middle;
  }
  const named = unresolved[low - 1];
  return named !== undefined && number < named.first + named.series.count ? named : undefined;
}

function resolve(numbers: TableNumbers, number: number, index: SeriesIndex): number {
  const dense = resolveTags(numbers, number, index);
  numbers.dense[number] = dense;
  return dense;
}

function resolveTags(numbers: TableNumbers, number: number, index: SeriesIndex): number {
  const named = findNamed(numbers.unresolved, number);
  if (named === undefined) {
    const { keys, values } = earlierTags(numbers, number);
    return index.resolve(keys, values);
  }
  const place = number - named.first;
  const keys = tagKeysAt(named.series, place);
  const dense = index.resolvePacked(keys, packedTagsAt(named.series, place));
  if (named.wasResolved[place] === 0) {
    named.wasResolved[place] = 1;
    named.unresolvedCount--;
    if (named.unresolvedCount === 0) forget(numbers.unresolved, named);
  }
  return dense;
}

function forget(unresolved: Named[], named: Named): void {
  // Usually the tag sets of the newest body, so the search starts at the end.
  unresolved.splice(unresolved.lastIndexOf(named), 1);
}

function grown(numbers: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(size, numbers.length * 2)).fill(UNRESOLVED);
  larger.set(numbers);
  return larger;
}
