// Source: docs/LIVE-QUERIES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SystemClock } from '@plinth/kernel';
import type { CacheRows } from '@plinth/tsdb-caches/cache-rows.js';
import { RecordsNotRetained, type RetainedLog } from '@plinth/tsdb-engine/live/retained-log.js';
import type { TableBatch } from '@plinth/tsdb-engine/write/write-sequencer.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { CatchUpReader } from './catch-up.js';
import type { GatheredRows } from './gathered-rows.js';
import type { LivePlan } from './live-plan.js';
import { LiveQuery, type LiveStatements } from './live-query.js';
import type { LiveNotice, LiveSink } from './live-sink.js';
import { LiveTable } from './live-table.js';
import { type Position, positionText } from './position.js';
import { StatementRuns } from './statement-runs.js';

const column = (id: number, name: string, kind: Column['kind']): Column => ({
  ...{ id, name, kind, physicalName: name },
});
const TIME = column(0, 'time', 'time');
const HOST = column(1, 'h', 'tag');
const VALUE = column(2, 'v', 'int64');

/** Rows of the hosts `a` and `b`, alternately, with the values from `first` on. */
function batchOf(first: number, rowCount: number): TableBatch {
  const values = BigInt64Array.from({ length: rowCount }, (_, i) => BigInt(first + i));
  const index = { tagValue: (ordinal: number) => (ordinal === 0 ? 'a' : 'b') };
  const batch = {
    rowCount,
    seriesOrdinals: Uint32Array.from({ length: rowCount }, (_, i) => i % 2),
    times: values,
    fields: [{ column: VALUE, data: { type: 'int64', values }, validity: undefined }],
  };
  // Only these members are read.
  return { store: { series: { index } }, batch } as unknown as TableBatch;
}

class Client implements LiveSink {
  hasRoom = true;
  readonly events: unknown[] = [];
  rows(_kind: 'rows' | 'bucket', { chunks }: Parameters<LiveSink['rows']>[1], position: Position) {
    if (!this.hasRoom) return false;
    for (const { rowCount, columns } of chunks) {
      const values = Array.from({ length: rowCount }, (_, row) => Number(columns[1]?.values[row]));
      this.events.push([positionText(position), ...values]);
    }
    return true;
  }
  notice({ kind, ...notice }: LiveNotice) {
    if (this.hasRoom) this.events.push([kind, 'rowCount' in notice ? notice.rowCount : undefined]);
    return this.hasRoom;
  }
  heartbeat(position: Position) {
    this.events.push(['heartbeat', positionText(position)]);
  }
  end() {}
}

function queryOf(
  tagConditions: readonly TagCondition[] = [],
  position: Position = { seq: 0n },
  kind: 'copied' | 'computed' | 'buckets' = 'copied',
) {
  const output = {
    ...{
      kind,
      rowColumns: [HOST, VALUE, TIME],
      widthNs: 10n,
      planned: { scans: [{}] } as unknown as PlannedQuery,
    },
  };
  const plan: LivePlan = {
    table: { id: 1 } as TableSchema, // only the id is read
    columns: [],
    conditions: {
      ...{ minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS, tagConditions },
      fieldConditions: [{ column: VALUE, op: '>', value: 1 }],
    },
    output: output as LivePlan['output'],
  };
  const sink = new Client();
  const database = { id: 1, name: 'd' };
  const query = new LiveQuery({
    ...{ database, text: '', plan, sink, position, isLetIn: () => true },
  });
  const table = new LiveTable();
  table.add(query);
  return {
    ...{ query, sink, table },
    write: (seq: number, batch: TableBatch) =>
      table.match(batch, (each, rows, row) => each.take(rows, row, BigInt(seq))),
    read: (seq: number, batch: TableBatch) =>
      table.match(batch, (each, rows, row) => each.takeFromLog(rows, row, BigInt(seq))),
  };
}
const NO_STATEMENTS = {
  compute: () => Promise.reject(new Error('copied rows need no statement')),
  bucketRows: () => Promise.reject(new Error('copied rows need no statement')),
};

it('sends matching rows of several writes as one event', () => {
  for (const condition of [
    { tag: 'h', op: 'in', values: ['a', 'x'] },
    { tag: 'h', op: 'not_in', values: ['b', undefined] },
  ] as const) {
    const { query, sink, write } = queryOf([condition]);
    write(7, batchOf(0, 5));
    write(8, batchOf(10, 2));
    query.sendRows();
    query.sendRows();
    assert.deepEqual(sink.events, [['8', 2, 4, 10]]);
  }
});

it('finds the queries of a series again when they change', () => {
  const { query, sink, table, write } = queryOf();
  const other = queryOf([{ tag: 'h', op: 'in', values: ['b'] }]).query;
  write(1, batchOf(10, 2));
  table.add(other);
  table.delete(query);
  write(2, batchOf(20, 2));
  query.sendRows();
  assert.deepEqual(sink.events, [['1', 10, 11]]);
  other.sendRows();
  assert.deepEqual((other.sink as Client).events, [['2', 21]]);
});

it('divides a large write, and continues within it', async () => {
  const { query, sink, write } = queryOf();
  const batch = batchOf(2, 3000);
  write(5, batch);
  query.sendRows();
  const [first] = sink.events as [[string, ...number[]]];
  assert.match(first[0], /^5\.\d+$/);
  const [, count = ''] = first[0].split('.');
  assert.equal(first.length - 1, Number(count));
  const later = queryOf([], { seq: 5n, count: Number(count) });
  later.query.beginCatchUp(5n);
  later.read(5, batch);
  assert.ok(await later.query.sendCaughtUp(5n, NO_STATEMENTS));
  assert.ok(later.query.endCatchUp());
  const [rest] = later.sink.events as [[string, ...number[]]];
  assert.deepEqual(
    [...first.slice(1), ...rest.slice(1)],
    Array.from({ length: 3000 }, (_, i) => i + 2),
  );
});

it('reports how many rows a slow client has missed', () => {
  const { query, sink, write } = queryOf();
  sink.hasRoom = false;
  write(1, batchOf(10, 2));
  query.sendRows();
  write(2, batchOf(20, 1));
  query.sendRows();
  sink.hasRoom = true;
  write(3, batchOf(30, 1));
  query.sendRows();
  assert.deepEqual(sink.events, [
    ['dropped', 3],
    ['3', 30],
  ]);
});

it('holds new rows until those of the log are sent', async () => {
  const { query, sink, write, read } = queryOf([], { seq: 1n });
  query.beginCatchUp(3n);
  write(4, batchOf(40, 1));
  query.sendRows();
  for (const seq of [1, 2, 3, 4]) read(seq, batchOf(seq * 10, 1));
  assert.equal(query.endCatchUp(), false);
  sink.hasRoom = false;
  assert.equal(await query.sendCaughtUp(3n, NO_STATEMENTS), false);
  sink.hasRoom = true;
  assert.equal(await query.sendCaughtUp(3n, NO_STATEMENTS), true);
  assert.equal(query.endCatchUp(), true);
  query.sendRows();
  assert.deepEqual(sink.events, [
    ['3', 20, 30],
    ['4', 40],
  ]);
});

it('updates the position of an idle client only', () => {
  const { query, sink, write } = queryOf();
  query.heartbeat(5n);
  write(6, batchOf(10, 1));
  query.heartbeat(7n);
  query.sendRows();
  query.heartbeat(7n);
  assert.deepEqual(sink.events, [
    ['heartbeat', '5'],
    ['heartbeat', '5'],
    ['6', 10],
    ['heartbeat', '7'],
  ]);
});

/** A log with the writes 1 to 3, whose oldest record can disappear. */
function logOf(rowCount = 1) {
  const log = { oldestSeq: 0n, isGone: false };
  const retainedLog = {
    ...{ lastSeq: 3n, whenSettled: async () => {}, oldestSeq: async () => log.oldestSeq },
    availableFrom: (_: number, afterSeq: bigint, oldestSeq: bigint) =>
      afterSeq > oldestSeq ? afterSeq : oldestSeq,
    async *read({ afterSeq }: { readonly afterSeq: bigint }) {
      if (log.isGone && log.oldestSeq === 0n) {
        log.oldestSeq = 2n;
        throw new RecordsNotRetained();
      }
      for (let seq = afterSeq + 1n; seq <= 3n; seq++) {
        const batch = batchOf(Number(seq) * 10, rowCount);
        Object.assign(batch.store, { tableId: 1 });
        yield { seq, batches: [batch] };
      }
    },
  };
  return { log, retainedLog: retainedLog as unknown as RetainedLog };
}

async function caughtUp(
  retainedLog: RetainedLog,
  queries: readonly LiveQuery[],
  statements: LiveStatements = NO_STATEMENTS,
): Promise<readonly LiveQuery[]> {
  const failed: LiveQuery[] = [];
  const onFailed = (each: readonly LiveQuery[]) => failed.push(...each);
  const reader = new CatchUpReader({ retainedLog, statements, clock: new SystemClock(), onFailed });
  for (const query of queries) {
    query.beginCatchUp(3n);
    reader.add(query);
  }
  while (queries.some((query) => query.catchUp !== undefined && !failed.includes(query)))
    await new Promise((resolve) => setImmediate(resolve));
  await reader.close();
  return failed;
}

it('reports a gap if log files disappear while they are read', async () => {
  const { log, retainedLog } = logOf();
  log.isGone = true;
  const { query, sink } = queryOf();
  assert.deepEqual(await caughtUp(retainedLog, [query]), []);
  assert.deepEqual(sink.events, [
    ['gap', undefined],
    ['3', 30],
  ]);
});

it('ends only the query whose statement fails during a catch-up', async () => {
  const { query, sink } = queryOf();
  const other = queryOf([], { seq: 0n }, 'computed').query;
  assert.deepEqual(await caughtUp(logOf().retainedLog, [other, query]), [other]);
  assert.deepEqual(sink.events, [['3', 10, 20, 30]]);
});

it('moves the position of an aggregate during steady writes', async () => {
  const { query, sink, write } = queryOf([], { seq: 0n }, 'buckets');
  write(1, batchOf(10, 1));
  await query.compute({
    ...NO_STATEMENTS,
    bucketRows: async () => {
      write(2, batchOf(20, 1));
      return [];
    },
  });
  query.heartbeat(2n);
  assert.deepEqual(sink.events, [['heartbeat', '1']]);
});

it('keeps the position of an aggregate whose buckets were dropped', async () => {
  const { query, sink, write } = queryOf([], { seq: 5n }, 'buckets');
  // More than the 10,000 buckets that can wait, in too many ranges for one computation.
  for (let i = 1; i <= 10_001; i++) write(5 + i, batchOf(i * 100, 1));
  await query.compute({ ...NO_STATEMENTS, bucketRows: async () => [] });
  query.heartbeat(20_000n);
  assert.deepEqual(sink.events, [
    ['dropped', 1],
    ['heartbeat', '5'],
  ]);
});

it('sends computed rows once if the plan changes while they are computed', async () => {
  const { query, sink, write } = queryOf([], { seq: 0n }, 'computed');
  write(1, batchOf(10, 1));
  const compute = async (_: LiveQuery, rows: GatheredRows) => [rows.toChunk()];
  await query.compute({
    ...NO_STATEMENTS,
    compute: async (each, rows) => {
      query.usePlan(query.plan, 1n);
      assert.equal(await query.sendCaughtUp(1n, NO_STATEMENTS), true);
      assert.equal(query.endCatchUp(), true);
      return await compute(each, rows);
    },
  });
  assert.deepEqual(sink.events, []);
});

it('drops rows of a large write that wait for their computation', async () => {
  const { query, sink, write } = queryOf([], { seq: 0n }, 'computed');
  write(1, batchOf(2, 50_000));
  await query.compute({ ...NO_STATEMENTS, compute: async (_, rows) => [rows.toChunk()] });
  const [dropped, rest] = sink.events as [[string, number], [string, ...number[]]];
  assert.equal(dropped[0], 'dropped');
  assert.ok(dropped[1] > 0 && rest.length > 1);
  assert.equal(dropped[1] + rest.length - 1, 50_000);
  assert.equal(rest.at(-1), 50_001);
});

it('catches up more queries than one pass reads', async () => {
  const all = Array.from({ length: 120 }, () => queryOf());
  const queries = all.map(({ query }) => query);
  assert.deepEqual(await caughtUp(logOf().retainedLog, queries), []);
  for (const { sink } of all) assert.deepEqual(sink.events, [['3', 10, 20, 30]]);
});

it('catches up a client that first has no room', async () => {
  const { query, sink } = queryOf();
  sink.hasRoom = false;
  setTimeout(() => {
    sink.hasRoom = true;
  }, 20);
  assert.deepEqual(await caughtUp(logOf(3000).retainedLog, [query]), []);
  const rows = (sink.events as [string, ...number[]][]).flatMap(([, ...values]) => values);
  assert.equal(rows.length, 9000);
});

it('limits the rows of the buckets that a write changed', async () => {
  let outcome = '';
  const session = {
    async *read() {
      for (let i = 0; i < 2; i++) yield { rowCount: 60_000, columns: [] };
    },
    end: (text: string) => {
      outcome = text;
    },
  };
  const engine = { openSession: async () => session } as unknown as Engine; // only these members are used
  const statements = new StatementRuns(engine, {} as CacheRows);
  const { query } = queryOf([], { seq: 0n }, 'buckets');
  await assert.rejects(statements.bucketRows(query, 0n, 9n), /use wider buckets, fewer groups/);
  assert.notEqual(outcome, 'success');
});
