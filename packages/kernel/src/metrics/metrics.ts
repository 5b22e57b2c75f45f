import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';
import { observeProcess } from './process-metrics.js';

type Config<C> = Omit<C, 'registers'>;

/** One registry per server, so that several servers in one process do not mix their numbers. */
export class Metrics {
  readonly #registry = new Registry();
  #process: Disposable | undefined;

  counter<L extends string>(config: Config<CounterConfiguration<L>>): Counter<L> {
    return new Counter({ ...config, registers: [this.#registry] });
  }

  gauge<L extends string>(config: Config<GaugeConfiguration<L>>): Gauge<L> {
    return new Gauge({ ...config, registers: [this.#registry] });
  }

  histogram<L extends string>(config: Config<HistogramConfiguration<L>>): Histogram<L> {
    return new Histogram({ ...config, registers: [this.#registry] });
  }

  /** Puts a metric on the page that keeps its numbers itself, for paths too hot for label look-ups. */
  add(metric: SelfKeptMetric): void {
    // The registry only ever asks a metric for its name and its values.
    this.#registry.registerMetric(metric as unknown as Gauge);
  }

  /** Starts to measure this process and its event loop; ends with `close`. */
  observeProcess(): void {
    this.#process ??= observeProcess(this);
  }

  /** The page in Prometheus' text format. Source: tsdb-http, section 10. */
  async page(): Promise<{ readonly contentType: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: `${text.endsWith('\n') ? text : `${text}\n`}# EOF\n`,
    };
  }

  close(): void {
    this.#process?.[Symbol.dispose]();
    this.#process = undefined;
  }
}

export interface SelfKeptMetric {
  readonly name: string;
  get(): {
    readonly name: string;
    readonly help: string;
    readonly type: 'counter' | 'gauge' | 'histogram';
    readonly values: readonly MetricSample[];
  };
}

export interface MetricSample {
  /** With `_bucket`, `_sum` or `_count` for the parts of a histogram. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}
