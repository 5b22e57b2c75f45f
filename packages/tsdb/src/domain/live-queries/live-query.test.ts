// Source: docs/LIVE-QUERIES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TableBatch } from '@plinth/tsdb-engine/write/write-buffer.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MAX_TIME_NS, MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { LivePlan } from './live-plan.js';
import { LiveQuery } from './live-query.js';
import type { LiveNotice, LiveSink } from './live-sink.js';
import { LiveTable } from './live-table.js';
import { type Position, positionText } from './position.js';

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

function queryOf(tagConditions: readonly TagCondition[] = [], position: Position = { seq: 0n }) {
  const plan: LivePlan = {
    table: { id: 1 } as TableSchema, // only the id is read
    columns: [],
    conditions: {
      ...{ minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS, tagConditions },
      fieldConditions: [{ column: VALUE, op: '>', value: 1 }],
    },
    output: { kind: 'copied', rowColumns: [HOST, VALUE, TIME] },
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
