// The models implement tsdb-http, "Distinct value cache" and "Last value cache", as literally as
// possible.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { SeriesIndex } from '@plinth/tsdb-engine/series/series-index.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { BatchField, RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import fc from 'fast-check';
import { DistinctCache } from './distinct-cache.js';
import { LastCache } from './last-cache.js';
import { thresholdOf } from './threshold.js';

const HOST: Column = { id: 2, name: 'host', kind: 'tag', physicalName: 'host' };
const DC: Column = { id: 3, name: 'dc', kind: 'tag', physicalName: 'dc' };
const MODE: Column = { id: 4, name: 'mode', kind: 'utf8', physicalName: 'mode' };
const VALUE: Column = { id: 5, name: 'value', kind: 'float64', physicalName: 'value' };

interface Row {
  readonly host: string | undefined;
  readonly dc: string | undefined;
  readonly mode: string | undefined;
  readonly value: number | undefined;
  readonly time: number;
}

const maybe = <T>(values: readonly T[]) => fc.constantFrom(undefined, ...values);
const row: fc.Arbitrary<Row> = fc.record({
  host: maybe(['a', 'b', 'c']),
  dc: maybe(['x', 'y']),
  mode: maybe(['on', 'off', '']),
  value: maybe([1, 2.5, -3]),
  time: fc.integer({ min: -2, max: 40 }),
});
type Step =
  | { readonly kind: 'write'; readonly rows: readonly Row[] }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'evict' };
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('write' as const), rows: fc.array(row, { maxLength: 8 }) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 15 }) }),
    fc.record({ kind: fc.constant('evict' as const) }),
  ),
  { maxLength: 30 },
);

function toBatch(rows: readonly Row[], index: SeriesIndex): RowBatch {
  const series = Uint32Array.from(rows, ({ host, dc }) => {
    const tags = Object.entries({ dc, host }).filter(([, value]) => value !== undefined);
    return index.resolve(
      tags.map(([key]) => key),
      tags.map(([, value]) => String(value)),
    );
  });
  const bits = (has: (row: Row) => boolean): Uint8Array => {
    const validity = new Uint8Array((rows.length + 7) >> 3);
    rows.forEach((each, i) => {
      if (has(each)) validity[i >> 3] = (validity[i >> 3] ?? 0) | (1 << (i & 7));
    });
    return validity;
  };
  const texts = rows.map(({ mode }) => Buffer.from(mode ?? ''));
  const offsets = new Uint32Array(rows.length + 1);
  texts.forEach((text, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + text.length;
  });
  const fields: BatchField[] = [
    {
      column: MODE,
      data: { type: 'utf8', offsets, bytes: Buffer.concat(texts) },
      validity: bits(({ mode }) => mode !== undefined),
    },
    {
      column: VALUE,
      data: { type: 'float64', values: Float64Array.from(rows, ({ value }) => value ?? 0) },
      validity: bits(({ value }) => value !== undefined),
    },
  ];
  const times = BigInt64Array.from(rows, ({ time }) => BigInt(time));
  return { rowCount: rows.length, seriesOrdinals: series, times, fields };
}

const KEYS: readonly (readonly Column[])[] = [[], [HOST], [HOST, DC], [DC, MODE], [MODE]];
const TTL_MS = 20;

describe('LastCache', () => {
  it('C-04 matches the model after any writes, pauses and evictions', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), fc.constantFrom(1, 2, 3), steps, (keys, count, all) => {
        const index = new SeriesIndex(1n);
        const cache = new LastCache({
          index,
          keyColumns: keys,
          valueColumns: undefined,
          count,
          ttlMs: TTL_MS,
        });
        const model = new Map<string, { row: Row; arrivalMs: number }[]>();
        let nowMs = 1000;
        for (const step of all) {
          if (step.kind === 'wait') nowMs += step.ms;
          else if (step.kind === 'evict') cache.evictExpired(nowMs);
          else {
            cache.take(toBatch(step.rows, index), nowMs);
            for (const each of step.rows) takeByRule(model, each, { keys, count, nowMs });
          }
          const expected = [...model]
            .flatMap(([key, held]) =>
              held
                .filter(({ arrivalMs }) => arrivalMs + TTL_MS > nowMs)
                .map(({ row: r }) => textOf(key, r)),
            )
            .sort();
          const actual: string[] = [];
          let last: { key: string; time: bigint } | undefined;
          for (const { slot, entry } of cache.entries([], nowMs)) {
            const key = keyText(keys.map((_, i) => cache.keyOf(slot, i)));
            const time = cache.timeOf(entry);
            if (last?.key === key) assert.ok(last.time > time, 'newest first');
            last = { key, time };
            actual.push(
              [
                key,
                time,
                ...[HOST, DC].map((c) => valueText(cache.valueOf(entry, c))),
                keys.includes(MODE) ? '' : valueText(cache.valueOf(entry, MODE)),
                valueText(cache.valueOf(entry, VALUE)),
              ].join(' '),
            );
          }
          assert.deepEqual(actual.sort(), expected);
          assert.ok(cache.entryCount >= actual.length);
        }
        function textOf(key: string, r: Row): string {
          return [
            key,
            r.time,
            valueText(r.host),
            valueText(r.dc),
            keys.includes(MODE) ? '' : valueText(r.mode),
            valueText(r.value),
          ].join(' ');
        }
      }),
      { numRuns: caseCount(400) },
    );
  });

  it('C-04 selects one key, some keys and all keys except some', () => {
    const index = new SeriesIndex(1n);
    const cache = new LastCache({
      index,
      keyColumns: [HOST, DC],
      valueColumns: undefined,
      count: 1,
      ttlMs: 1000,
    });
    const rows = ['a', 'b', 'c'].flatMap((host) =>
      ['x', 'y'].map((dc): Row => ({ host, dc, mode: undefined, value: 1, time: 1 })),
    );
    cache.take(toBatch(rows, index), 0);
    const find = (...conditions: Parameters<LastCache['entries']>[0]) =>
      [...cache.entries(conditions, 0)]
        .map(({ slot }) => keyText([cache.keyOf(slot, 0), cache.keyOf(slot, 1)]))
        .sort();
    assert.deepEqual(
      find({ tag: 'host', op: 'in', values: ['b'] }, { tag: 'dc', op: 'in', values: ['y'] }),
      ['b|y'],
    );
    assert.deepEqual(find({ tag: 'host', op: 'in', values: ['a', 'nobody'] }), ['a|x', 'a|y']);
    assert.deepEqual(find({ tag: 'host', op: 'not_in', values: ['a', 'b'] }), ['c|x', 'c|y']);
    assert.deepEqual(
      find({ tag: 'host', op: 'in', values: ['nobody'] }, { tag: 'dc', op: 'in', values: ['y'] }),
      [],
    );
    // The planner filters by columns that are not keys, so `value` does not narrow the result
    // here.
    assert.equal(find({ tag: 'value', op: 'in', values: ['7'] }).length, 6);
  });

  it('merges the lines of one point, with other lines between them', () => {
    const index = new SeriesIndex(1n);
    const options = { index, keyColumns: [HOST], valueColumns: undefined, ttlMs: 1000 };
    const cache = new LastCache({ ...options, count: 2 });
    const line = (host: string, time: number, value?: number, mode?: string): Row => ({
      host,
      dc: undefined,
      time,
      value,
      mode,
    });
    cache.take(
      toBatch(
        [
          line('a', 1, 1),
          line('a', 2, 2),
          line('b', 2, 7),
          line('a', 1, undefined, 'on'),
          line('a', 2, undefined, 'off'),
          line('a', 2, 3),
          line('b', 1, 9, 'late'),
        ],
        index,
      ),
      0,
    );
    // The next request adds a field to an existing point.
    cache.take(toBatch([line('b', 2, undefined, 'on')], index), 0);
    const rows = [...cache.entries([], 0)].map(({ slot, entry }) => [
      cache.keyOf(slot, 0),
      cache.timeOf(entry),
      cache.valueOf(entry, VALUE),
      cache.valueOf(entry, MODE),
    ]);
    assert.deepEqual(rows, [
      ['a', 2n, 3, 'off'],
      ['a', 1n, 1, 'on'],
      ['b', 2n, 7, 'on'],
    ]);
  });

  it('evicts the rows that arrived first', () => {
    const index = new SeriesIndex(1n);
    const cache = new LastCache({
      index,
      keyColumns: [HOST],
      valueColumns: undefined,
      count: 1,
      ttlMs: 1e9,
    });
    for (let i = 0; i < 1000; i++) {
      cache.take(
        toBatch([{ host: `h${i}`, dc: undefined, mode: undefined, value: i, time: 1 }], index),
        i,
      );
    }
    assert.equal(cache.evictOldest(0.2), 200);
    const left = [...cache.entries([], 1000)].map(({ slot }) => cache.keyOf(slot, 0));
    assert.ok(!left.includes('h199') && left.includes('h200') && left.length === 800);
  });
});

describe('DistinctCache', () => {
  const columnSets: readonly (readonly Column[])[] = [[HOST], [HOST, DC], [DC, MODE]];

  it('C-02 holds each combination with its latest time, and prunes the oldest', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...columnSets),
        fc.integer({ min: 1, max: 4 }),
        steps,
        (columns, maxCardinality, all) => {
          const index = new SeriesIndex(1n);
          const maxAgeNs = 25n;
          const cache = new DistinctCache({ index, columns, maxCardinality, maxAgeNs });
          const model = new Map<string, number>();
          let nowNs = 20n;
          for (const step of all) {
            if (step.kind === 'wait') nowNs += BigInt(step.ms);
            else if (step.kind === 'evict') cache.evict(nowNs);
            else {
              cache.take(toBatch(step.rows, index), nowNs);
              for (const each of step.rows) {
                const key = keyText(columns.map(({ name }) => each[name as 'host']));
                model.set(key, Math.max(model.get(key) ?? -Infinity, each.time));
              }
            }
            const actual = shown(cache, columns, nowNs, 0n).sort();
            assert.ok(cache.entryCount <= maxCardinality);
            if (step.kind === 'evict' || model.size > maxCardinality) {
              for (const [key, time] of model)
                if (BigInt(time) <= nowNs - maxAgeNs) model.delete(key);
              // The specification leaves open which of several combinations with the same time
              // is evicted. The model accepts the cache's choice.
              const cut =
                [...model.values()].sort((a, b) => b - a)[maxCardinality - 1] ?? -Infinity;
              const left = new Set(shown(cache, columns, 1000n, maxAgeNs * 1000n));
              for (const [key, time] of model) {
                if (time > cut) assert.ok(left.has(key), 'a newer one stays');
                else if (time < cut) assert.ok(!left.has(key), 'an older one goes');
                if (!left.has(key)) model.delete(key);
              }
              assert.equal(left.size, model.size);
            }
            const expected = [...model]
              .filter(([, time]) => BigInt(time) > nowNs - maxAgeNs)
              .map(([key]) => key);
            assert.deepEqual(actual, expected.sort());
          }
        },
      ),
      { numRuns: caseCount(400) },
    );
  });

  /** Returns the visible combinations as strings. `extraNs` extends the maximum age. */
  function shown(
    cache: DistinctCache,
    columns: readonly Column[],
    nowNs: bigint,
    extraNs: bigint,
  ): string[] {
    return [...cache.slots([], nowNs - extraNs)].map((slot) =>
      keyText(columns.map((_, i) => cache.valueOf(slot, i))),
    );
  }
});

it('thresholdOf returns the value at a rank among the sorted values', () => {
  const value = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e18 });
  const few = fc.array(value, { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(few, fc.nat(), fc.constantFrom(1, 1000), (distinct, n, repeats) => {
      const values = Array.from({ length: repeats }, (_, i) =>
        distinct.map((each) => (i % 3 === 0 ? each : each + i)),
      ).flat();
      const sorted = Float64Array.from(values).sort();
      const count = 1 + (n % values.length);
      assert.equal(thresholdOf(Float64Array.from(values), count), sorted[count - 1]);
    }),
  );
});

function takeByRule(
  model: Map<string, { row: Row; arrivalMs: number }[]>,
  row: Row,
  { keys, count, nowMs }: { keys: readonly Column[]; count: number; nowMs: number },
): void {
  const key = keys.map(({ name }) => row[name as 'host']);
  if (key.includes(undefined)) return;
  const text = keyText(key);
  let held = model.get(text) ?? [];
  if (held.every(({ arrivalMs }) => arrivalMs + TTL_MS <= nowMs)) held = [];
  if (row.time <= (held[0]?.row.time ?? 0)) {
    // A line of the same point adds its fields; later values win.
    const isSame = (r: Row) => r.time === row.time && r.host === row.host && r.dc === row.dc;
    const merged = held.map((each) =>
      isSame(each.row)
        ? {
            ...each,
            row: {
              ...each.row,
              mode: row.mode ?? each.row.mode,
              value: row.value ?? each.row.value,
            },
          }
        : each,
    );
    model.set(text, merged);
    return;
  }
  model.set(text, [{ row, arrivalMs: nowMs }, ...held].slice(0, count));
}

function keyText(values: readonly unknown[]): string {
  return values.map(valueText).join('|');
}

function valueText(value: unknown): string {
  return value === undefined ? '-' : String(value);
}
