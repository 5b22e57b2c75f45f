export interface Metric {
  /** Contains the unit, followed by `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** The names of all possible labels, except `le` of histogram buckets. */
  readonly labels?: readonly string[];
  /** A metric that cannot be read is omitted from the page. */
  samples(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

export interface MetricSample {
  /** The name with `_bucket`, `_sum` or `_count` for parts of a histogram; the metric's name by default. */
  readonly metricName?: string;
  /** Labels have few distinct values, which clients cannot choose. */
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}

const UNITS = ['seconds', 'bytes'] as const;

/** Returns the unit in a metric name; `undefined` for a count of things. */
export function unitOf(name: string): (typeof UNITS)[number] | undefined {
  const quantity = name.replace(/_total$/, '');
  return UNITS.find((unit) => quantity.endsWith(`_${unit}`));
}
