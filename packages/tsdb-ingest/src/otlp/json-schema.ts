/** The encoding of a number, a string or bytes in Protocol Buffers. */
export type ScalarType =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'double'
  | 'fixed64'
  | 'sfixed64'
  | 'int64'
  | 'uint64'
  | 'sint32'
  | 'uint32';

export interface JsonField {
  readonly number: number;
  readonly type: ScalarType | (() => JsonMessage);
  readonly isRepeated: boolean;
}

/** Fields of a message by their names in JSON. Others are ignored. */
export type JsonMessage = ReadonlyMap<string, JsonField>;

type Shape = Readonly<Record<string, readonly [number, JsonField['type'], 'repeated'?]>>;

const message = (shape: Shape): JsonMessage =>
  new Map(
    Object.entries(shape).map(([name, [number, type, repeated]]) => [
      name,
      { number, type, isRepeated: repeated !== undefined },
    ]),
  );

/** Source: OpenTelemetry, `common/v1/common.proto`, `resource/v1/resource.proto`. */
const ANY_VALUE: JsonMessage = message({
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'int64'],
  doubleValue: [4, 'double'],
  arrayValue: [5, () => ARRAY_VALUE],
  kvlistValue: [6, () => KEY_VALUE_LIST],
  bytesValue: [7, 'bytes'],
});
const KEY_VALUE = message({ key: [1, 'string'], value: [2, () => ANY_VALUE] });
const ARRAY_VALUE = message({ values: [1, () => ANY_VALUE, 'repeated'] });
const KEY_VALUE_LIST = message({ values: [1, () => KEY_VALUE, 'repeated'] });
const RESOURCE = message({ attributes: [1, () => KEY_VALUE, 'repeated'] });
const SCOPE = message({
  name: [1, 'string'],
  version: [2, 'string'],
  attributes: [3, () => KEY_VALUE, 'repeated'],
});

/** Source: OpenTelemetry, `metrics/v1/metrics.proto`. */
const EXEMPLAR = message({});
const NUMBER_POINT = message({
  attributes: [7, () => KEY_VALUE, 'repeated'],
  timeUnixNano: [3, 'fixed64'],
  asDouble: [4, 'double'],
  asInt: [6, 'sfixed64'],
  exemplars: [5, () => EXEMPLAR, 'repeated'],
  flags: [8, 'uint32'],
});
const HISTOGRAM_POINT = message({
  attributes: [9, () => KEY_VALUE, 'repeated'],
  timeUnixNano: [3, 'fixed64'],
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  bucketCounts: [6, 'fixed64', 'repeated'],
  explicitBounds: [7, 'double', 'repeated'],
  exemplars: [8, () => EXEMPLAR, 'repeated'],
  flags: [10, 'uint32'],
  min: [11, 'double'],
  max: [12, 'double'],
});
const BUCKETS = message({ offset: [1, 'sint32'], bucketCounts: [2, 'uint64', 'repeated'] });
const EXPONENTIAL_POINT = message({
  attributes: [1, () => KEY_VALUE, 'repeated'],
  timeUnixNano: [3, 'fixed64'],
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  scale: [6, 'sint32'],
  zeroCount: [7, 'fixed64'],
  positive: [8, () => BUCKETS],
  negative: [9, () => BUCKETS],
  flags: [10, 'uint32'],
  exemplars: [11, () => EXEMPLAR, 'repeated'],
  min: [12, 'double'],
  max: [13, 'double'],
  zeroThreshold: [14, 'double'],
});
const QUANTILE = message({ quantile: [1, 'double'], value: [2, 'double'] });
const SUMMARY_POINT = message({
  attributes: [7, () => KEY_VALUE, 'repeated'],
  timeUnixNano: [3, 'fixed64'],
  count: [4, 'fixed64'],
  sum: [5, 'double'],
  quantileValues: [6, () => QUANTILE, 'repeated'],
  flags: [8, 'uint32'],
});
const data = (point: JsonMessage): JsonMessage =>
  message({
    dataPoints: [1, () => point, 'repeated'],
    aggregationTemporality: [2, 'uint32'],
    isMonotonic: [3, 'bool'],
  });
const GAUGE_OR_SUM = data(NUMBER_POINT);
const HISTOGRAM = data(HISTOGRAM_POINT);
const EXPONENTIAL_HISTOGRAM = data(EXPONENTIAL_POINT);
const SUMMARY = data(SUMMARY_POINT);
const METRIC = message({
  name: [1, 'string'],
  gauge: [5, () => GAUGE_OR_SUM],
  sum: [7, () => GAUGE_OR_SUM],
  histogram: [9, () => HISTOGRAM],
  exponentialHistogram: [10, () => EXPONENTIAL_HISTOGRAM],
  summary: [11, () => SUMMARY],
});
const SCOPE_METRICS = message({
  scope: [1, () => SCOPE],
  metrics: [2, () => METRIC, 'repeated'],
});
const RESOURCE_METRICS = message({
  resource: [1, () => RESOURCE],
  scopeMetrics: [2, () => SCOPE_METRICS, 'repeated'],
});

/** The fields of `ExportMetricsServiceRequest` that are stored or counted. */
export const METRICS_REQUEST: JsonMessage = message({
  resourceMetrics: [1, () => RESOURCE_METRICS, 'repeated'],
});
