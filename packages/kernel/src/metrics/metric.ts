export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  samples(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

export interface MetricSample {
  /** With `_bucket`, `_sum` or `_count` for the parts of a histogram; the metric's own name otherwise. */
  readonly metricName?: string;
  /** Values are few and never a client's choice. */
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}
