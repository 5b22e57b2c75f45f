import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { Tombstone } from '../table/tombstones.js';
import { chooseMerge, chooseRequestedMerge } from './choose-merge.js';

const MB = 1024 * 1024;

/** Returns a segment from the start of one day to the end of another. */
function segment(
  kind: Segment['kind'],
  days: readonly [number, number],
  sizeBytes: number,
  id = `${kind}-${days.join('-')}`,
): Segment {
  const [first, last] = days;
  return {
    id,
    tableId: 1,
    objectName: `tsdb/t/${id}.parquet`,
    kind,
    formatVersion: 1,
    partitionStartNs: BigInt(first) * NS_PER_DAY,
    partitionWidthNs: NS_PER_DAY * BigInt(last - first + 1),
    minTime: BigInt(first) * NS_PER_DAY,
    maxTime: BigInt(last + 1) * NS_PER_DAY - 1n,
    minSeries: 0n,
    maxSeries: 0n,
    minSeq: 1n,
    maxSeq: 1n,
    rowCount: 1,
    sizeBytes,
    checksum: 0,
    modifiedMs: undefined,
    level: 0,
    columnIds: new Set([3]),
  };
}

const DAYS = Array.from({ length: 30 }, (_, day) => segment('unique', [day, day], 10 * MB));

/** Returns the chosen merge with the names of its inputs. */
function chosen(
  segments: readonly Segment[],
  more: { readonly skipped?: readonly string[]; readonly tombstones?: readonly Tombstone[] } = {},
): string | undefined {
  const { skipped = [], tombstones = [] } = more;
  const merge = chooseMerge({ segments, tombstones, isSkipped: ({ id }) => skipped.includes(id) });
  return merge && `${merge.kind} ${merge.inputs.map(({ id }) => id).join(' ')}`;
}

describe('chooseMerge', () => {
  it('merges distant overlays separately, each with the segments it overwrites', () => {
    const first = segment('overlay', [0, 0], 1000);
    const last = segment('overlay', [29, 29], 1000);
    assert.equal(chosen([...DAYS, first, last]), 'merge unique-29-29 overlay-29-29');
    assert.equal(chosen([...DAYS, first]), 'merge unique-0-0 overlay-0-0');
  });

  it('merges overlays that overlap directly or through a third', () => {
    const overlays = [
      segment('overlay', [0, 2], 1000),
      segment('overlay', [1, 4], 1000),
      segment('overlay', [4, 5], 1000),
      segment('overlay', [9, 9], 1000),
    ];
    assert.equal(
      chosen([...DAYS, ...overlays].filter(({ id }) => id !== 'overlay-9-9')),
      `merge ${DAYS.slice(0, 6)
        .map(({ id }) => id)
        .join(' ')} overlay-0-2 overlay-1-4 overlay-4-5`,
    );
  });

  it('splits an overlay that spans too much data for one merge', () => {
    assert.equal(chosen([...DAYS, segment('overlay', [0, 29], 1000)]), 'split overlay-0-29');
  });

  it('merges oversized overlays once more have accumulated or a deletion is pending', () => {
    const day = segment('unique', [3, 3], 300 * MB);
    const overlays = Array.from({ length: 8 }, (_, i) => segment('overlay', [3, 3], 1000, `o${i}`));
    const deletion: Tombstone = {
      id: 't',
      tableId: 1,
      seq: 2n,
      minTimeNs: 3n * NS_PER_DAY,
      maxTimeNs: 3n * NS_PER_DAY,
      anyOf: [[]],
    };
    assert.equal(chosen([day, ...overlays.slice(1)]), undefined);
    assert.equal(chosen([day, ...overlays]), `merge unique-3-3 o0 o1 o2 o3 o4 o5 o6 o7`);
    // The unique segment already excludes the deleted rows.
    const clean = { ...day, maxSeq: 2n };
    const tombstones = [deletion];
    assert.equal(chosen([clean, ...overlays.slice(7)], { tombstones }), 'merge unique-3-3 o7');
  });

  it('skips unreadable segments and only those that depend on them', () => {
    const overlays = [segment('overlay', [3, 3], 1000), segment('overlay', [8, 8], 1000)];
    const skipped = ['unique-8-8'];
    assert.equal(chosen([...DAYS, ...overlays], { skipped }), 'merge unique-3-3 overlay-3-3');
    const wide = segment('overlay', [7, 9], 1000);
    assert.equal(chosen([...DAYS, wide], { skipped }), 'split overlay-7-9');
    assert.equal(chosen([...DAYS, segment('overlay', [8, 8], 1000)], { skipped }), undefined);
    const small = Array.from({ length: 9 }, (_, i) => segment('unique', [1, 1], 1000, `u${i}`));
    assert.equal(chosen(small, { skipped: ['u0'] }), 'merge u1 u2 u3 u4 u5 u6 u7 u8');
    assert.equal(chosen(small, { skipped: ['u0', 'u5'] }), undefined);
  });
});

describe('segments that a flush writes', () => {
  /** Merges the segments of equal flushes of one day as they arrive. */
  function mergedAfter(flushes: number, rowCount: number) {
    let segments: Segment[] = [];
    let rewrittenRows = 0;
    let mostRows = 0;
    for (let flush = 0; flush < flushes; flush++) {
      segments.push({ ...segment('unique', [1, 1], rowCount, `f${flush}`), rowCount });
      for (;;) {
        const merge = chooseMerge({ segments, tombstones: [], isSkipped: () => false });
        if (merge === undefined) break;
        const rows = merge.inputs.reduce((sum, each) => sum + each.rowCount, 0);
        const level = Math.max(...merge.inputs.map((each) => each.level)) + 1;
        const id = `m${flush}-${level}`;
        segments = segments.filter((each) => !merge.inputs.includes(each));
        segments.push({ ...segment('unique', [1, 1], rows, id), rowCount: rows, level });
        rewrittenRows += rows;
        mostRows = Math.max(mostRows, rows);
      }
    }
    return { rewrites: rewrittenRows / (flushes * rowCount), mostRows, count: segments.length };
  }

  it('are never merged if they are large', () => {
    // One field, a timestamp and a series: three values per row.
    assert.deepEqual(mergedAfter(64, 2_800_000), { rewrites: 0, mostRows: 0, count: 64 });
  });

  it('are rewritten a few times if they are small, in merges of bounded size', () => {
    assert.deepEqual(mergedAfter(64, 20_000), { rewrites: 2, mostRows: 1_280_000, count: 1 });
    const { rewrites, mostRows } = mergedAfter(5000, 20_000);
    assert.ok(rewrites < 3, `${rewrites} rewrites`);
    assert.ok(mostRows * 3 <= 24 * 1024 * 1024, `${mostRows} rows in one merge`);
  });
});

describe('a requested merge', () => {
  const span = (first: number, last = first) => ({
    minTimeNs: BigInt(first) * NS_PER_DAY,
    maxTimeNs: BigInt(last + 1) * NS_PER_DAY - 1n,
  });
  const isSkipped = (): boolean => false;
  const day = (number: number, sizeMb: number, id: string, level = 0): Segment => ({
    ...segment('unique', [number, number], sizeMb * MB, id),
    level,
  });
  const idsOf = (merge: ReturnType<typeof chooseRequestedMerge>) =>
    merge?.inputs.map(({ id }) => id);

  it('merges the files of a partition in the time span, of any level, into one', () => {
    const segments = [day(1, 1, 'a'), day(2, 3, 'b', 2), day(2, 2, 'c'), day(3, 1, 'd')];
    const merge = chooseRequestedMerge({ segments, isSkipped }, span(0, 9));
    assert.deepEqual([idsOf(merge), merge?.maxPartitions], [['c', 'b'], 1]);
    assert.equal(chooseRequestedMerge({ segments, isSkipped }, span(3)), undefined);
  });

  it('takes the smallest files if not all fit, and none if no two fit', () => {
    const segments = [day(1, 200, 'large'), day(1, 100, 'b'), day(1, 90, 'a')];
    assert.deepEqual(idsOf(chooseRequestedMerge({ segments, isSkipped }, span(1))), ['a', 'b']);
    const rest = [day(1, 200, 'large'), day(1, 190, 'ab', 1)];
    assert.equal(chooseRequestedMerge({ segments: rest, isSkipped }, span(1)), undefined);
  });

  it('excludes overlays and files of recently failed merges', () => {
    const overlay = segment('overlay', [1, 1], MB);
    const segments = [day(1, 1, 'a'), day(1, 1, 'b'), overlay];
    const isB = ({ id }: Segment): boolean => id === 'b';
    assert.deepEqual(idsOf(chooseRequestedMerge({ segments, isSkipped }, span(1))), ['a', 'b']);
    assert.equal(chooseRequestedMerge({ segments, isSkipped: isB }, span(1)), undefined);
  });
});
