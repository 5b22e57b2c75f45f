import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import fc from 'fast-check';
import { SeriesIndex } from '../../series/series-index.js';
import { timeScale } from '../groups/time-scale.js';
import { TimeSlicer } from '../groups/time-slicer.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { PartBuilder } from '../load/part-builder.js';
import { runsWithin } from './runs.js';
import { SliceChunks } from './slice-chunks.js';

interface Row {
  readonly source: number;
  readonly host: string;
  readonly time: bigint;
  readonly value: number | undefined;
}

const DAY = 86_400_000_000_000n;

/**
 * Arbitrary nanoseconds, equal timestamps and clusters, before and after 1970. A part spans up to 2
 * ** 32 time units.
 */
const nearTimeArb = fc.oneof(
  fc.constantFrom(0n, 1n, -1n),
  fc.integer({ min: 0, max: 100 }).map((k) => 1_000_000_000n + BigInt(k)),
  fc.bigInt({ min: -2_000_000_000n, max: 2_000_000_000n }),
);
const MS = 1_000_000n;
const farTimeArb = fc.oneof(
  fc.integer({ min: -50, max: 50 }).map((k) => BigInt(k) * 10_000n * MS),
  fc.integer({ min: 0, max: 100 }).map((k) => 20n * DAY + BigInt(k) * MS),
  fc.bigInt({ min: -20n * 86_400_000n, max: 20n * 86_400_000n }).map((k) => k * MS),
);
/** Too far apart for nanosecond precision in a double, over all parts. */
const farthestTimeArb = fc.integer({ min: 0, max: 400 }).map((k) => (BigInt(k) * DAY) / 8n);

/** Generates the rows of several parts with distances of `gap`. */
const rowsOf = (timeArb: fc.Arbitrary<bigint>, gap: bigint): fc.Arbitrary<readonly Row[]> =>
  fc
    .uniqueArray(
      fc.record({
        source: fc.integer({ min: 0, max: 2 }),
        host: fc.constantFrom('a', 'b', 'c', 'dd', 'é'),
        time: timeArb,
        value: fc.option(fc.double({ noNaN: true }), { nil: undefined, freq: 9 }),
      }),
      { minLength: 80, maxLength: 200, selector: ({ host, time }) => `${host} ${time}` },
    )
    .map((rows) => rows.map((row) => ({ ...row, time: row.time + BigInt(row.source) * gap })));

const caseArb = fc
  .constantFrom(
    { timeArb: nearTimeArb, gap: 0n },
    { timeArb: farTimeArb, gap: 0n },
    { timeArb: farthestTimeArb, gap: 300n * DAY },
  )
  .chain(({ timeArb, gap }) =>
    fc.record({
      rows: rowsOf(timeArb, gap),
      bounds: fc.option(fc.tuple(timeArb, timeArb), { nil: [-1000n * DAY, 1000n * DAY], freq: 1 }),
      isDescending: fc.boolean(),
      sliceRows: fc.integer({ min: 1, max: 40 }),
    }),
  );

const columnOf = (name: string, kind: Column['kind'], id: number): Column => ({
  ...{ name, kind, id, physicalName: name },
});
const COLUMNS = [columnOf('time', 'time', 0), columnOf('host', 'tag', 1)];
const VALUE = columnOf('value', 'float64', 2);

/** Returns the in-memory form of a source's rows; `undefined` if they are too far apart. */
function loadedOf(rows: readonly Row[], index: SeriesIndex): LoadedRows | undefined {
  const builder = new PartBuilder(rows.length);
  const series = rows.map(({ host }) => index.resolve(['host'], [host]));
  builder.add(
    Uint32Array.from(series),
    BigInt64Array.from(rows, ({ time }) => time),
  );
  const part = builder.finish();
  if (part === undefined) return undefined;
  const stored = rows.map((_, i) => rows[part.order?.[i] ?? i]?.value);
  const validity = new Uint8Array((rows.length + 7) >> 3);
  stored.forEach((value, i) => {
    if (value !== undefined) validity[i >> 3] = (validity[i >> 3] ?? 0) | (1 << (i & 7));
  });
  const values = Float64Array.from(stored, (value) => value ?? 0);
  const column = { values, validity: stored.includes(undefined) ? validity : undefined };
  return { part, column: (id) => (id === VALUE.id ? column : undefined) };
}

function cellsOf(vector: ColumnVector, count: number): unknown[] {
  const { values, validity } = vector;
  assert.equal(values.length, count);
  return Array.from({ length: count }, (_, i) =>
    validity !== undefined && ((validity[i >> 3] ?? 0) & (1 << (i & 7))) === 0
      ? undefined
      : values[i],
  );
}

describe('SliceChunks', () => {
  it('returns all rows of a time range, sorted by time', () => {
    let sliceCount = 0;
    fc.assert(
      fc.property(caseArb, ({ rows, bounds, isDescending, sliceRows }) => {
        const index = new SeriesIndex(1n);
        const loaded = [0, 1, 2].flatMap((source) => {
          const own = rows.filter((row) => row.source === source);
          return own.length === 0 ? [] : [loadedOf(own, index)];
        });
        const [minTimeNs, maxTimeNs] = bounds.toSorted((a, b) => (a < b ? -1 : 1)) as [
          bigint,
          bigint,
        ];
        fc.pre(!loaded.includes(undefined));
        const parts = loaded as LoadedRows[];
        const runs = runThrough(runsWithin(parts, undefined, { minTimeNs, maxTimeNs }));
        const scale = timeScale(parts, runs.source);
        fc.pre(scale !== undefined);
        const options = { loaded: parts, index, isDescending, scale: scale as typeof scale & {} };
        const slicer = new TimeSlicer({ runs, ...options, firstRows: 3, sliceRows });
        const chunks = new SliceChunks({ ...options, columns: [...COLUMNS, VALUE] });
        const actual: unknown[][] = [];
        for (let slice = slicer.next(); slice !== undefined; slice = slicer.next()) {
          sliceCount++;
          chunks.take(slice);
          for (let from = 0; from < slice.rowCount; from += 7) {
            const chunk = chunks.chunk(from, Math.min(slice.rowCount, from + 7));
            const [times, hosts, values] = chunk.columns.map((vector) =>
              cellsOf(vector, chunk.rowCount),
            );
            assert.ok(chunk.columns[1] instanceof DictionaryVector);
            for (let i = 0; i < chunk.rowCount; i++)
              actual.push([times?.[i], hosts?.[i], values?.[i]]);
            chunk.release?.();
          }
        }
        const expected = rows
          .filter(({ time }) => time >= minTimeNs && time <= maxTimeNs)
          .map(({ time, host, value }) => [time, host, value] as const);
        const sign = isDescending ? -1 : 1;
        const byTime = actual.map(([time]) => time as bigint);
        for (let i = 1; i < byTime.length; i++)
          assert.ok(((byTime[i] as bigint) - (byTime[i - 1] as bigint)) * BigInt(sign) >= 0n);
        // Rows with the same timestamp have no defined order.
        const text = (row: readonly unknown[]): string => row.map(String).join(' ');
        assert.deepEqual(actual.map(text).toSorted(), expected.map(text).toSorted());
      }),
      { numRuns: caseCount(100) },
    );
    assert.ok(sliceCount > caseCount(1000), `only ${sliceCount} slices`);
  });
});
