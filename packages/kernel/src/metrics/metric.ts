export interface Metric {
  /** Ends in `_total` when it only grows; before that in its unit. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** Names of all labels that its samples may have, beside `le` of a histogram's buckets. */
  readonly labels?: readonly string[];
  /** One that fails is left out of the page. */
  samples(): readonly MetricSample[] | Promise<readonly MetricSample[]>;
}

export interface MetricSample {
  /** With `_bucket`, `_sum` or `_count` for the parts of a histogram; the metric's own name otherwise. */
  readonly metricName?: string;
  /** Values are few and never a client's choice. */
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}

const UNITS = ['seconds', 'bytes'] as const;

/** What a metric of this name counts in; `undefined`: it counts things, which its meaning names. */
export function unitOf(name: string): (typeof UNITS)[number] | undefined {
  const quantity = name.replace(/_total$/, '');
  return UNITS.find((unit) => quantity.endsWith(`_${unit}`));
}
