import {
  type Clock,
  type Logger,
  type Metrics,
  OtlpTracer,
  type Random,
  type RequestSpan,
  RequestTracing,
  type Tracer,
} from '@plinth/kernel';
import { RequestSpans } from '../http/request-spans.js';
import type { Settings } from '../settings.js';

/** All members are `undefined` without a collector, at no cost per request. */
export interface Traces {
  readonly tracer: Tracer | undefined;
  readonly spans: RequestSpans | undefined;
  readonly currentSpan: (() => RequestSpan | undefined) | undefined;
  close(): Promise<void>;
}

/** Sends spans to the configured collector. */
export function openTraces(
  { otlp_traces_url: url, otlp_sample_ratio: sampleRatio, node_id: nodeId }: Settings['server'],
  parts: {
    readonly metrics: Metrics;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
  },
): Traces {
  const { metrics, clock, random, log } = parts;
  const dropped = metrics.counter({
    name: 'plinth_trace_spans_dropped_total',
    help: 'Spans dropped because the queue was full or the collector rejected the spans.',
  });
  if (url === undefined) {
    return {
      ...{ tracer: undefined, spans: undefined, currentSpan: undefined },
      close: async () => undefined,
    };
  }
  const tracer = new OtlpTracer({ url, nodeId, clock, random, log, dropped });
  const tracing = new RequestTracing({ tracer, sampleRatio, clock, random });
  return {
    tracer,
    spans: new RequestSpans(tracing),
    currentSpan: () => tracing.current(),
    close: () => tracer.close(),
  };
}
