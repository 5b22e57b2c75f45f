import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import { parseTraceParent } from './trace-parent.js';
import type { FinishedSpan, Tracer } from './tracer.js';

type Attributes = FinishedSpan['attributes'];

export interface RequestTracingOptions {
  readonly tracer: Tracer;
  /** The share of requests without `traceparent` that are traced, 0 to 1. */
  readonly sampleRatio: number;
  readonly clock: Clock;
  readonly random: Random;
}

/** Decides which requests are traced, and provides the span of the current request. */
export class RequestTracing {
  readonly #options: RequestTracingOptions;
  readonly #current = new AsyncLocalStorage<RequestSpan>();

  constructor(options: RequestTracingOptions) {
    this.#options = options;
  }

  /**
   * Starts the span of a request; `undefined` when the request is not sampled. A client's decision
   * overrides the ratio.
   */
  begin(traceParent: string | undefined): RequestSpan | undefined {
    const { random, sampleRatio } = this.#options;
    const parent = parseTraceParent(traceParent);
    if (!(parent?.isSampled ?? random.float() < sampleRatio)) return undefined;
    const traceId = parent?.traceId ?? hexOf(random, 16);
    return new RequestSpan({ ...this.#options, traceId, parentSpanId: parent?.spanId });
  }

  /** Runs `work`. In `work` and everything it starts, `current` returns this span. */
  run<T>(span: RequestSpan, work: () => T): T {
    return this.#current.run(span, work);
  }

  current(): RequestSpan | undefined {
    return this.#current.getStore();
  }
}

/** The span of one request and the parent of its steps. */
export class RequestSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly #options: RequestTracingOptions;
  readonly #parentSpanId: string | undefined;
  readonly #startMs: number;
  readonly #startMonotonicMs: number;
  readonly #attributes: Record<string, string | number> = {};

  constructor(
    options: RequestTracingOptions & {
      readonly traceId: string;
      readonly parentSpanId: string | undefined;
    },
  ) {
    this.#options = options;
    this.traceId = options.traceId;
    this.spanId = hexOf(options.random, 8);
    this.#parentSpanId = options.parentSpanId;
    this.#startMs = options.clock.nowMs();
    this.#startMonotonicMs = options.clock.monotonicMs();
  }

  set(name: string, value: string | number): void {
    this.#attributes[name] = value;
  }

  /** Records a finished step; its timestamps are from the monotonic clock. */
  child(step: {
    readonly name: string;
    readonly startMonotonicMs: number;
    readonly endMonotonicMs: number;
    readonly isFailure: boolean;
    readonly attributes: Attributes;
  }): void {
    const { startMonotonicMs, endMonotonicMs, ...about } = step;
    this.#options.tracer.record({
      ...about,
      kind: 'internal',
      traceId: this.traceId,
      spanId: hexOf(this.#options.random, 8),
      parentSpanId: this.spanId,
      startMs: this.#startMs + startMonotonicMs - this.#startMonotonicMs,
      durationMs: endMonotonicMs - startMonotonicMs,
    });
  }

  /** @param isFailure whether the server failed; client errors do not count. */
  end(name: string, isFailure: boolean, attributes: Attributes): void {
    this.#options.tracer.record({
      name,
      kind: 'server',
      traceId: this.traceId,
      spanId: this.spanId,
      parentSpanId: this.#parentSpanId,
      startMs: this.#startMs,
      durationMs: this.#options.clock.monotonicMs() - this.#startMonotonicMs,
      isFailure: isFailure || undefined,
      attributes: { ...attributes, ...this.#attributes },
    });
  }
}

const hexOf = (random: Random, sizeBytes: number): string =>
  Buffer.from(random.bytes(sizeBytes)).toString('hex');
