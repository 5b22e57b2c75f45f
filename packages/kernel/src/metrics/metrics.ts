import { invariant } from '../errors/invariant.js';
import type { Metric, MetricSample } from './metric.js';
import { observeProcess } from './process-metrics.js';
import { metricText } from './text-format.js';

/**
 * One registry per server, so that several servers in one process do not mix their numbers. A metric keeps its
 * numbers itself and is asked for them when the page is read: nothing is looked up by label on a hot path.
 */
export class Metrics {
  readonly #part: string;
  readonly #metrics: Map<string, RegisteredMetric>;
  #process: Disposable | undefined;

  constructor(part = 'server', metrics = new Map<string, RegisteredMetric>()) {
    this.#part = part;
    this.#metrics = metrics;
  }

  /** The same registry for one part of the server: what is added there is listed as that part's. */
  part(name: string): Metrics {
    return new Metrics(name, this.#metrics);
  }

  /** What there is to read, in the order in which it came. */
  get registered(): readonly RegisteredMetric[] {
    return [...this.#metrics.values()];
  }

  /** A number without labels that only grows. Its name ends in `_total`. */
  counter(about: { readonly name: string; readonly help: string }): Counter {
    let value = 0;
    this.add({ ...about, type: 'counter', samples: () => [{ value }] });
    return {
      inc(by = 1) {
        value += by;
      },
    };
  }

  /** A number that is read when the page is. */
  gauge(about: {
    readonly name: string;
    readonly help: string;
    readonly read: () => number | Promise<number>;
  }): void {
    const { name, help, read } = about;
    this.add({ name, help, type: 'gauge', samples: async () => [{ value: await read() }] });
  }

  /** Puts a metric on the page. Names are unique. */
  add(metric: Metric): void {
    invariant(!this.#metrics.has(metric.name), `two metrics are named ${metric.name}`);
    this.#metrics.set(metric.name, { part: this.#part, metric });
  }

  /** Starts to measure this process and its event loop; ends with `close`. */
  observeProcess(): void {
    this.#process ??= observeProcess((metric) => this.add(metric));
  }

  /** All numbers as they are now. A store that cannot be asked takes its own numbers off the page, and no others. */
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

  /** The page in Prometheus' text format. Source: tsdb-http, section 10. */
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
  /** Service, or `server`. */
  readonly part: string;
  readonly metric: Metric;
}

export interface Counter {
  inc(by?: number): void;
}
