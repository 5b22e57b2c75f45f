import type { Clock } from '@plinth/kernel';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ArrowField, KeyValuePair } from '../arrow/arrow-field.js';
import { type ArrowMessage, BatchEncoder } from '../arrow/batch-encoder.js';
import { schemaMessage } from '../arrow/schema-message.js';
import type { GrpcCall } from '../grpc/grpc-call.js';
import { encodeFlightData } from './wire-messages.js';

/** The content of a Flight stream. */
export interface ArrowStream {
  readonly fields: readonly ArrowField[];
  readonly metadata: readonly KeyValuePair[];
  readonly chunks: AsyncIterable<ResultChunk>;
}

/**
 * Pause after which a stream sends a batch without rows, so that proxies do not close the
 * connection.
 */
const SIGN_OF_LIFE_MS = 5_000;

const NO_BODY = new Uint8Array(0);

/**
 * Sends the schema, then batches at the client's pace. The next rows are requested from DuckDB when
 * all but one batch are consumed.
 * Source: tsdb-http, §20.2.
 */
export async function sendStream(call: GrpcCall, stream: ArrowStream, clock: Clock): Promise<void> {
  const encoder = new BatchEncoder(stream.fields.map(({ type }) => type));
  const send = async ({ header, body, release }: ArrowMessage): Promise<void> =>
    await call.write(encodeFlightData(header, body), release);
  await send({ header: schemaMessage(stream.fields, stream.metadata), body: NO_BODY });
  const watch = new SilenceWatch(clock, () => {
    // The next rows, or the end of the query, will detect a disconnected client.
    send(encoder.take()).catch(() => undefined);
  });
  try {
    for await (const message of encoder.batchesOf(watch.over(stream.chunks))) await send(message);
  } finally {
    watch.end();
  }
}

/** Detects that DuckDB takes a long time to produce the next chunk. The time spent on slow clients does not count. */
class SilenceWatch {
  readonly #clock: Clock;
  readonly #ticks: Disposable;
  #sinceMs: number | undefined;

  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock;
    this.#ticks = clock.every(SIGN_OF_LIFE_MS, () => {
      const nowMs = clock.monotonicMs();
      if (this.#sinceMs === undefined || nowMs - this.#sinceMs < SIGN_OF_LIFE_MS) return;
      this.#sinceMs = nowMs;
      onSilence();
    });
  }

  async *over<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    this.#sinceMs = this.#clock.monotonicMs();
    for await (const item of items) {
      this.#sinceMs = undefined;
      yield item;
      this.#sinceMs = this.#clock.monotonicMs();
    }
    this.#sinceMs = undefined;
  }

  end(): void {
    this.#ticks[Symbol.dispose]();
  }
}
