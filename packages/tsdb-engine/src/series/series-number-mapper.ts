import { invariant } from '@plinth/kernel';
import type { ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import { type NewSeries, packedTagsAt, tagKeysAt } from '@plinth/tsdb-model/series/new-series.js';
import type { SeriesIndex } from './series-index.js';

const UNRESOLVED = 0xffffffff;

/** New tag sets from one body of a parser, numbered from `first`. */
interface NewTagSets {
  readonly first: number;
  readonly series: NewSeries;
  /** 1 for tag sets that are or were in the index of a table. */
  readonly wasResolved: Uint8Array;
  unresolvedCount: number;
}

/** Maps one parser's series numbers of one table to the table's own index. */
class SeriesMapping {
  tableId = -1;
  index: SeriesIndex | undefined;
  /**
   * Series ordinal by the parser's number; `UNRESOLVED` until the first row of the series is
   * accepted.
   */
  ordinals = new Uint32Array(64).fill(UNRESOLVED);
  /** Tag sets that contain unresolved ones, in ascending order of their numbers. */
  readonly unresolved: NewTagSets[] = [];
  /** The mapping for an earlier table of the same name that has been deleted. */
  earlier: Pick<SeriesMapping, 'index' | 'ordinals' | 'earlier'> | undefined;
}

/**
 * Translates the series numbers of one parser epoch. An epoch ends when the parser discards its
 * numbers and counts from 0 again. Bodies of the earlier epoch that are still being processed keep
 * their own numbers. The parser sends a tag set once. A series enters the index of its table only
 * when a row of it is accepted, so rejected lines have no effect.
 */
export class SeriesNumberMapper {
  readonly epoch: number;
  readonly #tables = new Map<number, SeriesMapping>();

  constructor(epoch: number) {
    this.epoch = epoch;
  }

  /** Stores new tag sets. Must be called for every body of the epoch, in order. */
  addTagSets(tables: readonly ParsedTable[]): void {
    for (const table of tables) {
      const { newSeries: series, firstNewSeries: first } = table;
      if (series === undefined) continue;
      const mapping = this.#mappingOf(table.parserTable);
      const last = first + series.count;
      if (last > mapping.ordinals.length) mapping.ordinals = grown(mapping.ordinals, last);
      const { count } = series;
      const wasResolved = new Uint8Array(count);
      mapping.unresolved.push({ first, series, wasResolved, unresolvedCount: count });
    }
  }

  /** Returns the tags of a series, even if none of its rows was accepted yet. */
  tagsOf(table: ParsedTable, series: number): { readonly tagKeys: readonly string[] } {
    const mapping = this.#mappingOf(table.parserTable);
    const tagSets = findTagSets(mapping.unresolved, series);
    if (tagSets !== undefined)
      return { tagKeys: tagKeysAt(tagSets.series, series - tagSets.first) };
    return { tagKeys: earlierTags(mapping, series).keys };
  }

  /** Replaces the parser's numbers in `seriesNumbers` with the ordinals in `index`. */
  translate(options: {
    readonly table: ParsedTable;
    readonly tableId: number;
    readonly seriesNumbers: Uint32Array;
    readonly index: SeriesIndex;
  }): void {
    const mapping = this.#mappingOf(options.table.parserTable);
    if (mapping.tableId !== options.tableId) {
      if (mapping.tableId !== -1) resetMapping(mapping);
      mapping.tableId = options.tableId;
      mapping.index = options.index;
    }
    const { seriesNumbers, index } = options;
    for (let row = 0; row < seriesNumbers.length; row++) {
      const number = seriesNumbers[row] as number;
      const ordinal = mapping.ordinals[number] as number;
      seriesNumbers[row] = ordinal === UNRESOLVED ? resolve(mapping, number, index) : ordinal;
    }
  }

  /** Like `translate` for some rows, but returns a copy. */
  ordinalsOf(options: Parameters<SeriesNumberMapper['translate']>[0]): Uint32Array {
    const copy = options.seriesNumbers.slice();
    this.translate({ ...options, seriesNumbers: copy });
    return copy;
  }

  /** Returns the number of rows whose series have no ordinal in the table's index. */
  countUnresolved(table: ParsedTable, tableId: number, seriesNumbers: Uint32Array): number {
    const mapping = this.#mappingOf(table.parserTable);
    if (mapping.tableId !== tableId) return seriesNumbers.length;
    let count = 0;
    for (let row = 0; row < seriesNumbers.length; row++) {
      if (mapping.ordinals[seriesNumbers[row] as number] === UNRESOLVED) count++;
    }
    return count;
  }

  #mappingOf(parserTable: number): SeriesMapping {
    let mapping = this.#tables.get(parserTable);
    if (mapping === undefined) {
      mapping = new SeriesMapping();
      this.#tables.set(parserTable, mapping);
    }
    return mapping;
  }
}

/**
 * Another table of the same name has replaced the table: series are numbered there when their rows arrive.
 */
function resetMapping(mapping: SeriesMapping): void {
  const { index, ordinals, earlier } = mapping;
  mapping.earlier = { index, ordinals, earlier };
  mapping.ordinals = new Uint32Array(ordinals.length).fill(UNRESOLVED);
}

/** Returns the tags of a series that was resolved before. */
function earlierTags(mapping: SeriesMapping, number: number): ReturnType<SeriesIndex['tagsOf']> {
  let link: SeriesMapping['earlier'] = mapping;
  while (link !== undefined && (link.ordinals[number] ?? UNRESOLVED) === UNRESOLVED)
    link = link.earlier;
  invariant(link?.index !== undefined, 'the parser used a series number without its tags');
  return link.index.tagsOf(link.ordinals[number] as number);
}

/**
 * Returns the tag sets that include a number; `undefined` if all series of its body are resolved.
 */
function findTagSets(unresolved: readonly NewTagSets[], number: number): NewTagSets | undefined {
  let low = 0;
  let high = unresolved.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((unresolved[middle] as NewTagSets).first <= number) low = middle + 1;
    else high = middle;
  }
  const tagSets = unresolved[low - 1];
  return tagSets !== undefined && number < tagSets.first + tagSets.series.count
    ? tagSets
    : undefined;
}

function resolve(mapping: SeriesMapping, number: number, index: SeriesIndex): number {
  const ordinal = resolveTags(mapping, number, index);
  mapping.ordinals[number] = ordinal;
  return ordinal;
}

function resolveTags(mapping: SeriesMapping, number: number, index: SeriesIndex): number {
  const tagSets = findTagSets(mapping.unresolved, number);
  if (tagSets === undefined) {
    const { keys, values } = earlierTags(mapping, number);
    return index.resolve(keys, values);
  }
  const setIndex = number - tagSets.first;
  const keys = tagKeysAt(tagSets.series, setIndex);
  const ordinal = index.resolvePacked(keys, packedTagsAt(tagSets.series, setIndex));
  if (tagSets.wasResolved[setIndex] === 0) {
    tagSets.wasResolved[setIndex] = 1;
    tagSets.unresolvedCount--;
    if (tagSets.unresolvedCount === 0) removeTagSets(mapping.unresolved, tagSets);
  }
  return ordinal;
}

function removeTagSets(unresolved: NewTagSets[], tagSets: NewTagSets): void {
  // Usually the tag sets of the newest body, so the search starts at the end.
  unresolved.splice(unresolved.lastIndexOf(tagSets), 1);
}

function grown(numbers: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(size, numbers.length * 2)).fill(UNRESOLVED);
  larger.set(numbers);
  return larger;
}
