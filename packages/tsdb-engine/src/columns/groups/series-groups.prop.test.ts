import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { GroupKeyOrder } from '@plinth/tsdb-model/query/column-query.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import fc from 'fast-check';
import { SeriesIndex } from '../../series/series-index.js';
import { SeriesGroups } from './series-groups.js';

const TAGS = ['a', 'b'];
// U+FFFD and U+1F600 sort differently as UTF-16 and as UTF-8.
const valueArb = fc.constantFrom(undefined, 'x', 'y', 'xy', 'é', '\u{fffd}', '\u{1f600}');
const seriesArb = fc.record({ a: valueArb, b: valueArb });
const orderArb = fc.record({ descending: fc.boolean(), nullsFirst: fc.boolean() });

type Tags = Readonly<Record<string, string | undefined>>;

const bytesOf = (text: string): Buffer => Buffer.from(text);

/** Compares tag by tag, by bytes. */
function compare(x: Tags, y: Tags, order: readonly GroupKeyOrder[]): number {
  for (const { key, descending, nullsFirst } of order) {
    if (key.kind !== 'tag' || x[key.tag] === y[key.tag]) continue;
    const [a, b] = [x[key.tag], y[key.tag]];
    if (a === undefined || b === undefined) return (a === undefined) === nullsFirst ? -1 : 1;
    return Buffer.compare(bytesOf(a), bytesOf(b)) * (descending ? -1 : 1);
  }
  return 0;
}

describe('SeriesGroups', () => {
  it('groups series with equal values, in byte order', () => {
    fc.assert(
      fc.property(
        fc.array(seriesArb, { minLength: 1, maxLength: 60 }),
        fc.tuple(orderArb, orderArb),
        fc.integer({ min: 0, max: 2 }),
        (all, directions, tagCount) => {
          const index = new SeriesIndex(1n);
          const tags = TAGS.slice(0, tagCount);
          const numbers = all.map((series: Tags) => {
            const keys = TAGS.filter((tag) => series[tag] !== undefined);
            return index.resolve(
              keys,
              keys.map((tag) => series[tag] ?? ''),
            );
          });
          const groups = new SeriesGroups(index, tags);
          const groupOf = numbers.map((ordinal) => groups.groupOf(ordinal));
          const order = tags.map((tag, i) => ({
            ...{ descending: false, nullsFirst: false, ...directions[i] },
            key: { kind: 'tag' as const, tag },
          }));
          const keyOf = (series: Tags): string => JSON.stringify(tags.map((tag) => series[tag]));
          const byKey = new Map(all.map((series, i) => [keyOf(series), groupOf[i]]));
          assert.equal(groups.count, byKey.size);
          assert.equal(new Set(byKey.values()).size, byKey.size);
          assert.deepEqual(
            groupOf,
            all.map((series) => byKey.get(keyOf(series))),
          );
          const expected = [...new Map(all.map((each) => [keyOf(each), each])).values()].sort(
            (x, y) => compare(x, y, order),
          );
          const values = runThrough(groups.sorted(order)).map((group) => {
            return tags.map((tag) => groups.valuesOf(tag)[group]);
          });
          assert.deepEqual(
            values,
            expected.map((series: Tags) => tags.map((tag) => series[tag])),
          );
        },
      ),
      { numRuns: caseCount(300) },
    );
  });
});
