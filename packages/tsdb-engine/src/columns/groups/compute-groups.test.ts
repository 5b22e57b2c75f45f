import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery, GroupsComputation } from '@plinth/tsdb-model/query/column-query.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { SeriesIndex } from '../../series/series-index.js';
import type { StoredColumn } from '../cache/part.js';
import { computeGroups } from './compute-groups.js';

/** Above this, sums of 32-bit integers may not be exact doubles. */
const EXACT_ROWS = 2 ** 22;
const GROUP_COUNT = 8;
const ROWS = EXACT_ROWS + GROUP_COUNT;

const column = (kind: Column['kind']): Column => ({ id: 7, name: 'v', physicalName: 'v', kind });

/**
 * Returns the sums of equally large groups. Each group is one series, and the groups follow each
 * other in time.
 */
async function sums(kind: Column['kind'], values: StoredColumn['values']): Promise<unknown> {
  const index = new SeriesIndex(1n);
  const hosts = Array.from({ length: GROUP_COUNT }, (_, i) => `h${i}`);
  for (const host of hosts) index.resolve(['host'], [host]);
  const size = ROWS / GROUP_COUNT;
  const part = {
    rowCount: ROWS,
    runSeries: Uint32Array.from(hosts, (_, run) => run),
    runStarts: Uint32Array.from(hosts, (_, run) => run * size),
    runEnds: Uint32Array.from(hosts, (_, run) => (run + 1) * size),
    baseNs: 0n,
    unitNs: 1,
    offsets: Uint32Array.from({ length: ROWS }, (_, row) => row % size),
    minOffset: 0,
    maxOffset: size - 1,
    order: undefined,
  };
  const field = column(kind);
  const computation: GroupsComputation = {
    kind: 'groups',
    bucket: undefined,
    tags: ['host'],
    outputs: [{ kind: 'sum', column: field }],
    order: [{ key: { kind: 'tag', tag: 'host' }, descending: false, nullsFirst: false }],
    limit: undefined,
    offset: 0,
  };
  const chunks = await computeGroups({
    request: {
      minTimeNs: MIN_TIME_NS,
      maxTimeNs: MAX_TIME_NS,
      fieldConditions: [],
    } as unknown as ColumnQuery, // the test reads no other property
    computation,
    queryContext: undefined,
    loaded: [{ part, column: () => ({ values, validity: undefined }) }],
    index,
    series: undefined,
  });
  return chunks?.flatMap(({ columns: [sum] }: ResultChunk) => Array.from(sum?.values ?? []));
}

describe('computeGroups', () => {
  it('sums narrow integers of any number of rows, and leaves 32-bit ones to DuckDB', async () => {
    const size = ROWS / GROUP_COUNT;
    const expected = Array.from({ length: GROUP_COUNT }, () => size * 100);
    assert.deepEqual(await sums('int64', new Int8Array(ROWS).fill(100)), expected);
    assert.deepEqual(await sums('int64', new Int16Array(ROWS).fill(100)), expected);
    assert.equal(await sums('int64', new Int32Array(ROWS).fill(100)), undefined);
  });

  it('sums doubles in time order for any number of rows', async () => {
    const values = Float64Array.from({ length: ROWS }, (_, row) => 0.1 * (row % 7));
    const size = ROWS / GROUP_COUNT;
    const expected = Array.from({ length: GROUP_COUNT }, (_, run) =>
      values.subarray(run * size, (run + 1) * size).reduce((sum, value) => sum + value, 0),
    );
    assert.deepEqual(await sums('float64', values), expected);
  });
});
