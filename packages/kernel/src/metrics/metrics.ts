import { invariant } from '../errors/invariant.js';
import type { Metric, MetricSample } from './metric.js';
import { observeProcess } from './process-metrics.js';
import { metricText } from './text-format.js';

/**
 * The registry of one server, so that servers in one process do not mix their metrics. Each metric stores its own
 * numbers and is read for each page, so the hot path requires no lookup by label.
 */
export class Metrics {
  readonly #part: string;
  readonly #metrics: Map<string, RegisteredMetric>;
  #process: Disposable | undefined;

  constructor(part = 'server', metrics = new Map<string, RegisteredMetric>()) {
    this.#part = part;
    this.#metrics = metrics;
  }

  /** Returns the same registry for one part of the server. Metrics added there are listed under that part. */
  part(name: string): Metrics {
    return new Metrics(name, this.#metrics);
  }

  /** All metrics in order of registration. */
  get registered(): readonly RegisteredMetric[] {
    return [...this.#metrics.values()];
  }

  /** Registers a counter without labels. Its name ends in `_total`. */
  counter(options: { readonly name: string; readonly help: string }): Counter {
    let value = 0;
    this.add({ ...options, type: 'counter', samples: () => [{ value }] });
    return {
      inc(by = 1) {
        value += by;
      },
    };
  }

  /** Registers a gauge that is read for each page. */
  gauge(options: {
    readonly name: string;
    readonly help: string;
    readonly read: () => number | Promise<number>;
  }): void {
    const { name, help, read } = options;
    this.add({ name, help, type: 'gauge', samples: async () => [{ value: await read() }] });
  }

  /** Registers a metric. Names must be unique. */
  add(metric: Metric): void {
    invariant(!this.#metrics.has(metric.name), `duplicate metric name ${metric.name}`);
    this.#metrics.set(metric.name, { part: this.#part, metric });
  }

  /** Starts to measure this process and its event loop, until `close`. */
  observeProcess(): void {
    this.#process ??= observeProcess((metric) => this.add(metric));
  }

  /** Returns the current samples. A metric that cannot be read is omitted. */
  async read(): Promise<
    readonly { readonly metric: Metric; readonly samples: readonly MetricSample[] }[]
  > {
    const read = async ({ metric }: RegisteredMetric) => ({
      metric,
      samples: await metric.samples(),
    });
    const settled = await Promise.allSettled(this.registered.map(read));
    return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  }

  /** Returns the page in Prometheus' text format. Source: tsdb-http, section 10. */
  async page(): Promise<{ readonly contentType: string; readonly text: string }> {
    const texts = (await this.read()).map(({ metric, samples }) => metricText(metric, samples));
    return {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: `${texts.join('\n')}# EOF\n`,
    };
  }

  close(): void {
    this.#process?.[Symbol.dispose]();
    this.#process = undefined;
  }
}

export interface RegisteredMetric {
  /** The service, or `server`. */
  readonly part: string;
  readonly metric: Metric;
}

export interface Counter {
  inc(by?: number): void;
}
