import type { Clock } from '@plinth/kernel';
import type { ResultChunk } from '../../model/columns/result.js';
import type { ArrowField, KeyValuePair } from '../arrow/arrow-field.js';
import { type ArrowMessage, BatchEncoder } from '../arrow/batch-encoder.js';
import { schemaMessage } from '../arrow/schema-message.js';
import type { GrpcCall } from '../grpc/grpc-call.js';
import { encodeFlightData } from './wire-messages.js';

/** What a stream of Flight carries. */
export interface ArrowStream {
  readonly fields: readonly ArrowField[];
  readonly metadata: readonly KeyValuePair[];
  readonly chunks: AsyncIterable<ResultChunk>;
}

/** A stream that is silent for so long sends a batch without rows, so that nothing on the way takes it for dead. */
const SIGN_OF_LIFE_MS = 5_000;

const NO_BODY = new Uint8Array(0);

/**
 * Sends the schema, then batches as the client takes them: the engine is asked for more when all but one have been taken.
 * Source: tsdb-http, §20.2.
 */
export async function sendStream(call: GrpcCall, stream: ArrowStream, clock: Clock): Promise<void> {
  const encoder = new BatchEncoder(stream.fields.map(({ type }) => type));
  const send = async ({ header, body, release }: ArrowMessage): Promise<void> =>
    await call.write(encodeFlightData(header, body), release);
  await send({ header: schemaMessage(stream.fields, stream.metadata), body: NO_BODY });
  const watch = new SilenceWatch(clock, () => {
    // That the client has gone is heard by whoever sends the next rows, or waits for the engine to give up.
    send(encoder.take()).catch(() => undefined);
  });
  try {
    for await (const message of encoder.batchesOf(watch.over(stream.chunks))) await send(message);
  } finally {
    watch.end();
  }
}

/** Notices that the engine takes long to make the next chunk; a slow client is not silence. */
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
