import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { EncodedTagsCache } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { SeriesIndex } from '../series/series-index.js';
import { computeFromColumns } from './compute-from-columns.js';

const VALUE: Column = { id: 7, name: 'v', physicalName: 'v', kind: 'float64' };
const VALUES = [1, 2, 3];
const HOST_KEY = {
  key: { kind: 'tag', tag: 'host' },
  descending: false,
  nullsFirst: false,
} as const;

const COMPUTATIONS: readonly ColumnQuery['computation'][] = [
  {
    kind: 'groups',
    bucket: undefined,
    tags: ['host'],
    outputs: [{ kind: 'sum', column: VALUE }],
    order: [HOST_KEY],
    limit: undefined,
    offset: 0,
  },
  {
    kind: 'rows',
    tieBreakers: [],
    columns: [VALUE],
    descending: false,
    limit: undefined,
    offset: 0,
  },
  { kind: 'last', columns: [VALUE], by: [HOST_KEY] },
];

const NO_CACHE: EncodedTagsCache = { of: () => undefined };

/** Returns the values of the first column of the result over one series with `VALUES`. */
async function valuesOf(
  computation: ColumnQuery['computation'],
  signal: AbortSignal,
): Promise<number[]> {
  const index = new SeriesIndex(1n);
  index.resolve(['host'], ['a']);
  const part = {
    rowCount: VALUES.length,
    runSeries: Uint32Array.of(0),
    runStarts: Uint32Array.of(0),
    runEnds: Uint32Array.of(VALUES.length),
    baseNs: 0n,
    unitNs: 1,
    offsets: Uint32Array.from(VALUES, (_, row) => row),
    minOffset: 0,
    maxOffset: VALUES.length - 1,
    order: undefined,
  };
  const request = {
    minTimeNs: MIN_TIME_NS,
    maxTimeNs: MAX_TIME_NS,
    fieldConditions: [],
    computation,
  } as unknown as ColumnQuery; // no other property is read
  const loaded = [
    { part, column: () => ({ values: Float64Array.from(VALUES), validity: undefined }) },
  ];
  const chunks = await computeFromColumns(request, loaded, {
    index,
    series: undefined,
    encodedTags: NO_CACHE,
    queryContext: { signal },
  });
  assert.ok(chunks !== undefined);
  return [...chunks].flatMap(({ columns: [first] }) => Array.from(first?.values ?? [], Number));
}

/** Makes each task yield after its first step, regardless of the speed of the machine. */
function endSlicesAtOnce(t: TestContext): void {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => (nowMs += 1000));
}

describe('computeFromColumns', () => {
  for (const computation of COMPUTATIONS) {
    it(`stops with the abort reason: ${computation.kind}`, async (t) => {
      endSlicesAtOnce(t);
      const expected = { groups: [6], rows: VALUES, last: [3] }[computation.kind];
      assert.deepEqual(await valuesOf(computation, new AbortController().signal), expected);
      const reason = new Error('the client disconnected');
      await assert.rejects(valuesOf(computation, AbortSignal.abort(reason)), reason);
    });
  }
});
