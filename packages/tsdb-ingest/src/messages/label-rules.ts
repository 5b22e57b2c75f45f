import { STALE_FIELD, VALUE_FIELD } from './row-fields.js';

/** The label of Prometheus with the name of the metric. */
export const METRIC_LABEL = '__name__';

/** Rules for storing the labels of a series as tags. */
export interface LabelRules {
  /** The protocol's term for a label. */
  readonly noun: string;
  /** The label with the name of the metric, which is the table. */
  readonly metric: string;
  /** The error for a series without this label. */
  readonly noMetric: string;
  /** Returns the tag that stores a label. */
  tagOf(name: string): string;
  /** Whether the last of several labels with one name is stored. Otherwise they are refused. */
  readonly isLastStored: boolean;
}

/** Renames labels that have the name of another column. */
const renamed = (columns: readonly string[]): ReadonlyMap<string, string> =>
  new Map(columns.map((name) => [name, `${name}_tag`]));

/** As in `plinth migrate prometheus`. */
const PROMETHEUS_TAGS = renamed(['time', VALUE_FIELD, STALE_FIELD]);
const PROMETHEUS_LABELS: ReadonlyMap<string, string> = new Map(
  [...PROMETHEUS_TAGS].map(([label, tag]) => [tag, label]),
);

/** Maps Prometheus labels to the tags that store them, and back. */
export const tagOfLabel = (name: string): string => PROMETHEUS_TAGS.get(name) ?? name;
export const labelOfTag = (key: string): string => PROMETHEUS_LABELS.get(key) ?? key;

export const PROMETHEUS: LabelRules = {
  noun: 'label',
  metric: METRIC_LABEL,
  noMetric: `the label "${METRIC_LABEL}" is missing`,
  tagOf: tagOfLabel,
  isLastStored: false,
};

/** Fields of OpenTelemetry metrics, except those named after a bound or a quantile. */
export const OTLP_FIELDS = {
  gauge: 'gauge',
  counter: 'counter',
  count: 'count',
  sum: 'sum',
  min: 'min',
  max: 'max',
  scale: 'scale',
  zeroCount: 'zero_count',
  zeroThreshold: 'zero_threshold',
  positiveOffset: 'positive_offset',
  positiveCounts: 'positive_bucket_counts',
  negativeOffset: 'negative_offset',
  negativeCounts: 'negative_bucket_counts',
} as const;
const OTLP_TAGS = renamed(['time', STALE_FIELD, ...Object.values(OTLP_FIELDS)]);

/** The attributes of a data point follow those of its scope and resource, and have precedence. */
export const OTLP: LabelRules = {
  noun: 'attribute',
  // No attribute has an empty name.
  metric: '',
  noMetric: 'the metric has no name',
  tagOf: (name) => OTLP_TAGS.get(name) ?? name,
  isLastStored: true,
};
