import { crc32c } from '@plinth/kernel';
import { MessageWriter } from '@plinth/tsdb-ingest/messages/message-writer.js';
import { BYTES, tagOf, VARINT } from '@plinth/tsdb-ingest/messages/proto-cursor.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Labels, SamplePiece } from './sample-pieces.js';
import { writeLabels } from './sampled-response.js';
import { compareLabels, type EncodedSeries, SortedSeries } from './sorted-series.js';
import { XorChunk } from './xor-chunk.js';

/** Maximum number of samples in a chunk, as in Prometheus. */
const CHUNK_SAMPLES = 120;
/**
 * Maximum size of the chunks in a frame; a series continues in the next frame. Source: Prometheus, `remote_read.go`.
 */
const MAX_FRAME_BYTES = 1024 * 1024;
const XOR_ENCODING = 1;

/**
 * Yields frames with `prometheus.ChunkedReadResponse`. Source: Prometheus remote read, "Streamed
 * chunks"; `storage/remote/chunked.go`.
 */
export async function* chunkedResponse(
  queries: readonly AsyncIterable<SamplePiece>[],
): AsyncGenerator<Buffer, void, undefined> {
  const task = new TimeSlicedTask();
  for (const [index, pieces] of queries.entries()) {
    const sorted = new SortedSeries();
    const encoder = new SeriesChunks();
    for await (const piece of pieces) {
      const ended = encoder.add(piece);
      if (ended !== undefined)
        for (const series of sorted.add(ended)) yield* framesOf(series, index);
      await task.yieldIfDue();
    }
    const last = encoder.end();
    if (last !== undefined) for (const series of sorted.add(last)) yield* framesOf(series, index);
    for (const series of sorted.rest()) {
      yield* framesOf(series, index);
      await task.yieldIfDue();
    }
  }
}

/** Encodes the samples of one series after the other as `Chunk` messages. */
class SeriesChunks {
  readonly #chunk = new XorChunk(CHUNK_SAMPLES);
  readonly #writer = new MessageWriter();
  #labels: Labels | undefined;
  #chunks: Buffer[] = [];
  #sizeBytes = 0;
  #firstMs = 0;
  #lastMs = 0;

  /** @returns the previous series, if the piece belongs to another one. */
  add({ labels, count, timesMs, words }: SamplePiece): EncodedSeries | undefined {
    const isSame = this.#labels !== undefined && compareLabels(labels, this.#labels) === 0;
    const ended = isSame ? undefined : this.end();
    this.#labels = labels;
    for (let i = 0; i < count; i++) {
      const timeMs = timesMs[i] as number;
      if (this.#chunk.count === 0) this.#firstMs = timeMs;
      this.#chunk.add(timeMs, words[2 * i] as number, words[2 * i + 1] as number);
      this.#lastMs = timeMs;
      if (this.#chunk.count === CHUNK_SAMPLES) this.#finishChunk();
    }
    return ended;
  }

  /** Returns the last series, if it has samples. */
  end(): EncodedSeries | undefined {
    if (this.#chunk.count > 0) this.#finishChunk();
    const { length } = this.#chunks;
    const ended =
      this.#labels === undefined || length === 0
        ? undefined
        : { labels: this.#labels, pieces: this.#chunks, sizeBytes: this.#sizeBytes };
    this.#labels = undefined;
    this.#chunks = [];
    this.#sizeBytes = 0;
    return ended;
  }

  #finishChunk(): void {
    const writer = this.#writer;
    writer.uint(tagOf(1, VARINT));
    writer.int(this.#firstMs);
    writer.uint(tagOf(2, VARINT));
    writer.int(this.#lastMs);
    writer.uint(tagOf(3, VARINT));
    writer.uint(XOR_ENCODING);
    writer.field(tagOf(4, BYTES), this.#chunk.take());
    const chunk = writer.take();
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
  }
}

function* framesOf(
  { labels, pieces }: EncodedSeries,
  queryIndex: number,
): Generator<Buffer, void, undefined> {
  for (let from = 0; from < pieces.length; ) {
    const series = new MessageWriter();
    writeLabels(series, labels);
    do series.field(tagOf(2, BYTES), pieces[from++] as Buffer);
    while (from < pieces.length && series.size < MAX_FRAME_BYTES);
    const message = new MessageWriter();
    message.field(tagOf(1, BYTES), series.take());
    if (queryIndex > 0) {
      message.uint(tagOf(2, VARINT));
      message.uint(queryIndex);
    }
    yield frameOf(message.take());
  }
}

/** Length, CRC-32C and message. */
function frameOf(message: Buffer): Buffer {
  const length = new MessageWriter();
  length.uint(message.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32c([message]));
  return Buffer.concat([length.take(), sum, message]);
}
