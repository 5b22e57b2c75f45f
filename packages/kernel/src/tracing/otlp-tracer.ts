import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import type { Logger } from '../log/logger.js';
import type { Counter } from '../metrics/metrics.js';
import type { FinishedSpan, Tracer } from './tracer.js';

export interface OtlpTracerOptions {
  /** The collector URL with its path: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** The label of this node. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Counts spans that were dropped or not accepted by the collector. */
  readonly dropped: Counter;
}

const SEND_MS = 2000;
const TIMEOUT_MS = 5000;
const MAX_BATCH_COUNT = 512;
/** The queue limit; when it is reached, new spans are dropped. */
const MAX_WAITING_COUNT = 4096;
/** Values of `SpanKind` in trace.proto. */
const KIND = { internal: 1, server: 2, client: 3 } as const;
const STATUS = { ok: 1, error: 2 } as const;

/**
 * Sends spans to an OpenTelemetry collector in batches, as JSON over HTTP. Spans that the collector does not accept
 * are dropped, because tracing must never block. Source: OTLP 1.5, "OTLP/HTTP Request" and trace.proto.
 */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpTracerOptions;
  readonly #timer: Disposable;
  #waiting: FinishedSpan[] = [];
  #unreportedCount = 0;
  #sending: Promise<void> | undefined;

  constructor(options: OtlpTracerOptions) {
    this.#options = options;
    this.#timer = options.clock.every(SEND_MS, () => this.#send());
  }

  record(span: FinishedSpan): void {
    if (this.#waiting.length < MAX_WAITING_COUNT) this.#waiting.push(span);
    else {
      this.#unreportedCount += 1;
      this.#options.dropped.inc();
    }
  }

  async close(): Promise<void> {
    this.#timer[Symbol.dispose]();
    await this.#send();
  }

  async #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_BATCH_COUNT);
      this.#waiting = this.#waiting.slice(batch.length);
      if (!(await this.#post(batch))) break;
    }
    if (this.#unreportedCount === 0) return;
    this.#options.log.warn({ count: this.#unreportedCount }, 'spans dropped');
    this.#unreportedCount = 0;
  }

  async #post(batch: readonly FinishedSpan[]): Promise<boolean> {
    const { url, nodeId, log, dropped } = this.#options;
    const resource = {
      attributes: attributesOf({ 'service.name': 'plinth', 'service.instance.id': nodeId }),
    };
    const spans = batch.map((span) => this.#toWire(span));
    const body = {
      resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'plinth' }, spans }] }],
    };
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (response.ok) return true;
      log.warn({ status: response.status, count: batch.length }, 'collector rejected spans');
    } catch (err) {
      log.warn({ err, count: batch.length }, 'spans not sent');
    }
    dropped.inc(batch.length);
    return false;
  }

  #toWire(span: FinishedSpan): object {
    const startNs = BigInt(Math.round(span.startMs * 1000)) * 1000n;
    const endNs = startNs + BigInt(Math.round(span.durationMs * 1_000_000));
    return {
      traceId: span.traceId,
      spanId: span.spanId ?? Buffer.from(this.#options.random.bytes(8)).toString('hex'),
      ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
      name: span.name,
      kind: KIND[span.kind ?? 'client'],
      startTimeUnixNano: String(startNs),
      endTimeUnixNano: String(endNs),
      attributes: attributesOf(span.attributes),
      status:
        span.isFailure === undefined ? {} : { code: span.isFailure ? STATUS.error : STATUS.ok },
    };
  }
}

const attributesOf = (attributes: FinishedSpan['attributes']): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
