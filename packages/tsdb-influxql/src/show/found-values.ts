import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import { type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ValueBudget } from '../execute/value-budget.js';
import type { TableSource } from '../plan/compile/source.js';
import type { SplitCondition } from '../plan/condition/split-condition.js';
import { splitListedValues } from './listed-values.js';
import { matchingSeries, type SeriesReading, tagKeys } from './matching-series.js';
import { SmallestTexts } from './smallest-texts.js';

/**
 * Number of values processed between two yields. A regular expression may take a millisecond per
 * value.
 */
const VALUES_AT_ONCE = 16;

/** Flags for the values of one tag in one table, one byte per value. */
interface Marks {
  readonly index: SeriesLookup;
  readonly key: string;
  /** Indexed by value code. */
  readonly isFound: Uint8Array;
}

/** Distinct tag values in the tables of one measurement. */
export class FoundValues {
  readonly #marks = new Map<string, Marks[]>();

  /** Tags that were added for at least one table. */
  get keys(): readonly string[] {
    return [...this.#marks.keys()].sort(compareByteOrder);
  }

  /**
   * Adds the values of series that meet a condition. The condition may refer to the listed value.
   */
  async add(
    source: TableSource,
    isWanted: (key: string) => boolean,
    { split, reading }: { readonly split: SplitCondition; readonly reading: SeriesReading },
  ): Promise<void> {
    const keys = tagKeys(source).filter(isWanted);
    for (const key of keys) if (!this.#marks.has(key)) this.#marks.set(key, []);
    if (keys.length === 0) return;
    const { session, task } = reading;
    await session.indexed([source.table]);
    const index = session.seriesOf(source.table);
    const { rest, isListed } = splitListedValues(split.rest, { source, index });
    const marks = keys.map((key) => ({
      index,
      key,
      isFound: new Uint8Array(index.valueCount(key) + 1),
    }));
    for (const each of marks) this.#marks.get(each.key)?.push(each);
    for await (const batch of matchingSeries(source, { rest, range: split.range }, reading)) {
      for (const ordinal of batch) {
        for (const { key, isFound } of marks) {
          const code = index.tagCode(ordinal, key);
          if (code === 0 || isFound[code] === 1) continue;
          if (isListed === undefined || isListed(ordinal, key)) isFound[code] = 1;
        }
        if (isListed !== undefined && task.isYieldDue) await task.yieldIfDue();
      }
    }
  }

  /** Returns the number of distinct values of a tag. */
  *count(key: string): Steps<number> {
    const marks = this.#marks.get(key) ?? [];
    if (marks.length > 1) return (yield* this.#all(key)).length;
    return marks[0]?.isFound.reduce((sum, isFound) => sum + isFound, 0) ?? 0;
  }

  /**
   * Passes each value of a tag to `take`, in any order. A value in several tables may be passed
   * more than once.
   */
  *each(key: string, take: (value: string) => void): Steps<void> {
    for (const { index, isFound } of this.#marks.get(key) ?? []) {
      for (let code = 1; code < isFound.length; code++) {
        if (code % VALUES_AT_ONCE === 0) yield;
        if (isFound[code] === 1) take(index.valueOfCode(key, code) ?? '');
      }
    }
  }

  /**
   * Returns the values of a tag, ascending.
   * @param count if set, only this number of first values is needed.
   */
  *sorted(key: string, count: number | undefined, held: ValueBudget): Steps<readonly string[]> {
    if (count === undefined) return yield* sorted(yield* this.#all(key, held), compareByteOrder);
    const smallest = new SmallestTexts(count);
    yield* this.each(key, (value) => smallest.add(value));
    return yield* smallest.sorted();
  }

  *#all(key: string, held?: ValueBudget): Steps<readonly string[]> {
    const values: string[] = [];
    const seen = (this.#marks.get(key)?.length ?? 0) > 1 ? new Set<string>() : undefined;
    yield* this.each(key, (value) => {
      if (seen?.has(value)) return;
      seen?.add(value);
      held?.add(1);
      values.push(value);
    });
    return values;
  }
}
