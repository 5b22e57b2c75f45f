import { RecordBatchReader } from 'apache-arrow';
import { type Frame, type FrameColumn, MAX_ROW_COUNT, MAX_SIZE_BYTES } from '../lib/frame/frame.js';
import { groupRows } from '../lib/frame/group-rows.js';
import type { WorkerReply, WorkerRequest } from '../lib/frame/messages.js';
import { sortRows } from '../lib/frame/sort-rows.js';
import { type ColumnCollector, collectorOf } from './column-collector.js';

const PROGRESS_MS = 100;
const running = new Map<number, AbortController>();
const postReply = (reply: WorkerReply, transfer: Transferable[] = []): void =>
  self.postMessage(reply, { transfer });

self.addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  if (data.kind === 'cancel') {
    running.get(data.id)?.abort();
    return;
  }
  if (data.kind === 'sort') {
    const { id, column, rowCount, isDescending } = data;
    const order = sortRows(column, rowCount, isDescending);
    postReply({ kind: 'sorted', id, order }, [order.buffer]);
    return;
  }
  const controller = new AbortController();
  running.set(data.id, controller);
  void run(data, controller).finally(() => running.delete(data.id));
});

async function run(
  { id, url, headers, body }: WorkerRequest & { kind: 'run' },
  controller: AbortController,
): Promise<void> {
  const startMs = performance.now();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: controller.signal,
      cache: 'no-store',
    });
    if (!response.ok) {
      postReply({ kind: 'failed', id, status: response.status, message: await response.text() });
      return;
    }
    const firstMs = performance.now() - startMs;
    const { frame, sizeBytes } = await read(response, id);
    // The server stops the query when the connection is closed.
    if (frame.isCut) controller.abort();
    const totalMs = performance.now() - startMs;
    postReply({ kind: 'done', id, frame, sizeBytes, firstMs, totalMs }, buffersOf(frame));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    postReply({
      kind: 'failed',
      id,
      status: 0,
      message: controller.signal.aborted ? 'cancelled' : message,
    });
  }
}

async function read(
  response: Response,
  id: number,
): Promise<{ readonly frame: Frame; readonly sizeBytes: number }> {
  let sizeBytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, out) {
      sizeBytes += piece.byteLength;
      out.enqueue(piece);
    },
  });
  const stream = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(counted);
  const reader = await RecordBatchReader.from(stream);
  await reader.open();
  const collectors: ColumnCollector[] = reader.schema.fields.map(collectorOf);
  let rowCount = 0;
  let isCut = false;
  let toldMs = performance.now();
  for await (const batch of reader) {
    const room = MAX_ROW_COUNT - rowCount;
    const taken = batch.numRows > room ? batch.slice(0, room) : batch;
    for (const [index, collector] of collectors.entries()) {
      const vector = taken.getChildAt(index);
      if (vector !== null) collector.add(vector);
    }
    rowCount += taken.numRows;
    isCut = batch.numRows > room || sizeBytes > MAX_SIZE_BYTES;
    if (isCut) break;
    if (performance.now() - toldMs > PROGRESS_MS) {
      toldMs = performance.now();
      postReply({ kind: 'progress', id, rowCount, sizeBytes });
    }
  }
  return {
    frame: frameOf(
      collectors.map((each) => each.finish()),
      rowCount,
      isCut,
    ),
    sizeBytes,
  };
}

function frameOf(columns: readonly FrameColumn[], rowCount: number, isCut: boolean): Frame {
  const named = columns.findIndex(({ kind, name }) => kind === 'time' && name === 'time');
  const found = named === -1 ? columns.findIndex(({ kind }) => kind === 'time') : named;
  const time = columns[found];
  const groups = time?.kind === 'time' ? groupRows(columns, rowCount, time.numbers) : undefined;
  return { columns, rowCount, isCut, timeIndex: found === -1 ? undefined : found, groups };
}

function buffersOf({ columns, groups }: Frame): Transferable[] {
  const lists = columns.flatMap((column) =>
    Object.values(column).filter((value) => ArrayBuffer.isView(value)),
  );
  if (groups !== undefined) {
    lists.push(groups.starts, groups.times);
    for (const { values, figures } of groups.lines) lists.push(values, figures);
  }
  return [...new Set(lists.map(({ buffer }) => buffer as ArrayBuffer))];
}
