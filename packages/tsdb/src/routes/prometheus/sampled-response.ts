import { MessageWriter } from '@plinth/tsdb-ingest/messages/message-writer.js';
import { BYTES, FIXED_64, tagOf, VARINT } from '@plinth/tsdb-ingest/messages/proto-cursor.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Labels, SamplePiece } from './sample-pieces.js';
import { compareLabels } from './sorted-series.js';

/** Size of the parts that are compressed separately. */
const PART_BYTES = 64 * 1024;
/** Maximum number of samples. A response starts with its length, so it is in memory until its last sample. */
export const MAX_SAMPLES = 5_000_000;

const RESULT_TAG = tagOf(1, BYTES);
const SERIES_TAG = tagOf(1, BYTES);
const SAMPLE_TAG = tagOf(2, BYTES);
const VALUE_TAG = tagOf(1, FIXED_64);
const TIMESTAMP_TAG = tagOf(2, VARINT);

/**
 * Yields `prometheus.ReadResponse` in Snappy block format. Throws `parameter_invalid` for too
 * many samples. Source: Prometheus, `prompb/remote.proto`; remote read, "Samples".
 */
export async function* sampledResponse(
  queries: readonly AsyncIterable<SamplePiece>[],
): AsyncGenerator<Buffer, void, undefined> {
  const compress = await snappyPart();
  const task = new TimeSlicedTask();
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  let sampleCount = 0;
  for (const pieces of queries) {
    const series = new SeriesParts();
    const ofQuery: Buffer[] = [];
    let queryBytes = 0;
    const raw = new MessageWriter();
    const note = (added: readonly Buffer[], isLast = false): void => {
      for (const part of added) {
        queryBytes += part.length;
        raw.bytes(part);
        if (raw.size >= PART_BYTES) ofQuery.push(compress(raw.take()));
      }
      if (isLast && raw.size > 0) ofQuery.push(compress(raw.take()));
    };
    for await (const piece of pieces) {
      sampleCount += piece.count;
      if (sampleCount > MAX_SAMPLES)
        throw tsdbError(
          'parameter_invalid',
          `the response exceeds ${MAX_SAMPLES} samples; select fewer series or a shorter time range`,
        );
      note(series.add(piece));
      await task.yieldIfDue();
    }
    note(series.end(), true);
    const head = new MessageWriter();
    head.uint(RESULT_TAG);
    head.uint(queryBytes);
    const headBytes = head.take();
    sizeBytes += headBytes.length + queryBytes;
    parts.push(compress(headBytes), ...ofQuery);
  }
  const length = new MessageWriter();
  length.uint(sizeBytes);
  yield length.take();
  yield* parts;
}

/** Encodes the series of one query as parts. The parts of a series are complete when it ends. */
class SeriesParts {
  readonly #writer = new MessageWriter();
  #labels: Labels | undefined;
  #samples: Buffer[] = [];
  #sizeBytes = 0;

  add({ labels, count, timesMs, words }: SamplePiece): readonly Buffer[] {
    const isSame = this.#labels !== undefined && compareLabels(labels, this.#labels) === 0;
    const ended = isSame ? [] : this.end();
    this.#labels = labels;
    const writer = this.#writer;
    for (let i = 0; i < count; i++) {
      const timeMs = timesMs[i] as number;
      writer.uint(SAMPLE_TAG);
      writer.uint(9 + 1 + varintSize(timeMs));
      writer.uint(VALUE_TAG);
      writer.words(words[2 * i] as number, words[2 * i + 1] as number);
      writer.uint(TIMESTAMP_TAG);
      writer.int(timeMs);
      if (writer.size >= PART_BYTES) this.#flush();
    }
    return ended;
  }

  /** Returns the parts of the last series. */
  end(): readonly Buffer[] {
    const labels = this.#labels;
    this.#flush();
    const samples = this.#samples;
    this.#labels = undefined;
    this.#samples = [];
    if (labels === undefined || this.#sizeBytes === 0) return [];
    const writer = this.#writer;
    writeLabels(writer, labels);
    const ofLabels = writer.take();
    writer.uint(SERIES_TAG);
    writer.uint(ofLabels.length + this.#sizeBytes);
    writer.bytes(ofLabels);
    this.#sizeBytes = 0;
    return [writer.take(), ...samples];
  }

  #flush(): void {
    if (this.#writer.size === 0) return;
    const part = this.#writer.take();
    this.#sizeBytes += part.length;
    this.#samples.push(part);
  }
}

/** `Label` messages in field 1. */
export function writeLabels(writer: MessageWriter, labels: Labels): void {
  const label = new MessageWriter();
  for (const [name, value] of labels) {
    label.text(tagOf(1, BYTES), name);
    label.text(tagOf(2, BYTES), value);
    writer.field(tagOf(1, BYTES), label.take());
  }
}

function varintSize(value: number): number {
  if (value < 0) return 10;
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

/**
 * Returns a function that compresses a part of a block. Copies never reach beyond their part, so
 * parts follow each other without their lengths.
 */
async function snappyPart(): Promise<(part: Buffer) => Buffer> {
  const { snappyCompress } = await import('hyparquet-writer/src/snappy.js');
  return (part) => {
    const block = snappyCompress(part);
    let start = 0;
    while ((block[start] as number) >= 0x80) start++;
    return Buffer.from(block.subarray(start + 1));
  };
}
