import type { OtlpFormat, ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { MAX_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { type ColumnAllocator, HEAP_ALLOCATOR } from '../columns/column-allocator.js';
import { OTLP } from '../messages/label-rules.js';
import { MessageRows } from '../messages/message-rows.js';
import { BYTES, ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import { addValue, startRow } from '../messages/row-fields.js';
import type { ParserDictionary } from '../parser-dictionary.js';
import { LineRefused } from '../slow-path/line-refused.js';
import { ExponentialPoint } from './exponential-point.js';
import { HistogramPoint } from './histogram-point.js';
import { metricsMessage } from './json-message.js';
import { NumberPoint } from './number-point.js';
import { type MetricTraits, type PointKind, TIME_TAG } from './point-kind.js';
import { OtlpSeriesKey } from './series-key.js';
import { SummaryPoint } from './summary-point.js';

/** Source: OpenTelemetry, `metrics/v1/metrics.proto`, `common/v1/common.proto`. */
const RESOURCE_METRICS_TAG = tagOf(1, BYTES);
const RESOURCE_TAG = tagOf(1, BYTES);
const RESOURCE_ATTRIBUTES_TAG = tagOf(1, BYTES);
const SCOPE_METRICS_TAG = tagOf(2, BYTES);
const SCOPE_TAG = tagOf(1, BYTES);
const SCOPE_NAME_TAG = tagOf(1, BYTES);
const SCOPE_VERSION_TAG = tagOf(2, BYTES);
const SCOPE_ATTRIBUTES_TAG = tagOf(3, BYTES);
const METRICS_TAG = tagOf(2, BYTES);
const METRIC_NAME_TAG = tagOf(1, BYTES);
const POINTS_TAG = tagOf(1, BYTES);
const TEMPORALITY_TAG = tagOf(2, VARINT);
const MONOTONIC_TAG = tagOf(3, VARINT);
/** `AggregationTemporality`. */
const DELTA = 1;
const CUMULATIVE = 2;
/** `DataPointFlags`. */
const NO_RECORDED_VALUE = 1;
const SCOPE_TAGS: ReadonlyMap<number, Uint8Array> = new Map([
  [SCOPE_NAME_TAG, Buffer.from('otel.library.name')],
  [SCOPE_VERSION_TAG, Buffer.from('otel.library.version')],
]);
const METRIC_NAME = Buffer.from(OTLP.metric);
const TEMPORALITY = Buffer.from('aggregation_temporality');
const DELTA_VALUE = Buffer.from('delta');

interface Metric extends MetricTraits {
  /** Size of the key without the attributes of data points. */
  readonly keySize: number;
  readonly temporality: number;
}

/**
 * Parses `ExportMetricsServiceRequest` into the same columns as line protocol. Source: tsdb-http,
 * "OpenTelemetry metrics".
 */
export class MetricsParser {
  readonly #rows: MessageRows;
  readonly #kinds: ReadonlyMap<number, PointKind>;
  #cursor = new ProtoCursor(new Uint8Array(0));
  #key = new OtlpSeriesKey(this.#cursor);
  #exemplarCount = 0;

  constructor(dictionary: ParserDictionary) {
    this.#rows = new MessageRows(dictionary, { format: 'otlp_metrics', rules: OTLP });
    this.#kinds = new Map<number, PointKind>([
      [tagOf(5, BYTES), new NumberPoint({ hasTemporality: false })],
      [tagOf(7, BYTES), new NumberPoint({ hasTemporality: true })],
      [tagOf(9, BYTES), new HistogramPoint(dictionary.lineLimits)],
      [tagOf(10, BYTES), new ExponentialPoint(dictionary.lineLimits)],
      [tagOf(11, BYTES), new SummaryPoint(dictionary.lineLimits)],
    ]);
  }

  /** @param body the decoded request. All errors are in the result. */
  parse(
    body: Uint8Array,
    { database, format }: { readonly database: string; readonly format: OtlpFormat },
    allocator: ColumnAllocator = HEAP_ALLOCATOR,
  ): ParsedBody {
    this.#exemplarCount = 0;
    const parsed = this.#rows.parse({ database, size: body.length }, allocator, () => {
      const message = format === 'otlp_metrics' ? body : metricsMessage(body);
      this.#cursor = new ProtoCursor(message);
      this.#key = new OtlpSeriesKey(this.#cursor);
      this.#each(RESOURCE_METRICS_TAG, message.length, (end) => this.#readResource(end));
    });
    return { ...parsed, exemplarCount: this.#exemplarCount };
  }

  /** Calls `read` with the end of each field with this tag; the cursor is at its start. */
  #each(fieldNumber: number, end: number, read: (fieldEnd: number) => void): void {
    const cursor = this.#cursor;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== fieldNumber) {
        cursor.skip(tag, end);
        continue;
      }
      const fieldEnd = cursor.enter(end);
      read(fieldEnd);
      cursor.at = fieldEnd;
    }
  }

  /** Fields may be in any order, so the resource is searched for first; likewise below. */
  #readResource(end: number): void {
    const start = this.#cursor.at;
    const { size } = this.#key;
    this.#each(RESOURCE_TAG, end, (resourceEnd) =>
      this.#each(RESOURCE_ATTRIBUTES_TAG, resourceEnd, (at) => this.#key.addAttribute(at)),
    );
    this.#cursor.at = start;
    this.#each(SCOPE_METRICS_TAG, end, (scopeEnd) => this.#readScope(scopeEnd));
    this.#key.cut(size);
  }

  #readScope(end: number): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    const { size } = this.#key;
    this.#each(SCOPE_TAG, end, (scopeEnd) => {
      const scopeStart = cursor.at;
      this.#each(SCOPE_ATTRIBUTES_TAG, scopeEnd, (at) => this.#key.addAttribute(at));
      for (const [tag, name] of SCOPE_TAGS) {
        cursor.at = scopeStart;
        this.#each(tag, scopeEnd, (at) =>
          this.#key.add(name, cursor.bytes.subarray(cursor.at, at)),
        );
      }
    });
    cursor.at = start;
    this.#each(METRICS_TAG, end, (metricEnd) => this.#readMetric(metricEnd));
    this.#key.cut(size);
  }

  #readMetric(end: number): void {
    const cursor = this.#cursor;
    const { size } = this.#key;
    let name: Uint8Array = METRIC_NAME;
    let kind: PointKind | undefined;
    let dataStart = end;
    let dataEnd = end;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      const found = this.#kinds.get(tag);
      if (tag !== METRIC_NAME_TAG && found === undefined) {
        cursor.skip(tag, end);
        continue;
      }
      const fieldEnd = cursor.enter(end);
      if (found === undefined) name = cursor.bytes.subarray(cursor.at, fieldEnd);
      else [kind, dataStart, dataEnd] = [found, cursor.at, fieldEnd];
      cursor.at = fieldEnd;
    }
    if (kind === undefined) return;
    this.#key.add(METRIC_NAME, name);
    cursor.at = dataStart;
    this.#readData(kind, dataEnd);
    this.#key.cut(size);
  }

  #readData(kind: PointKind, end: number): void {
    const cursor = this.#cursor;
    const start = cursor.at;
    let temporality = 0;
    let isMonotonic = false;
    while (kind.hasTemporality && cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag === TEMPORALITY_TAG) temporality = cursor.uint(end);
      else if (tag === MONOTONIC_TAG) isMonotonic = cursor.uint(end) !== 0;
      else cursor.skip(tag, end);
    }
    if (temporality === DELTA) this.#key.add(TEMPORALITY, DELTA_VALUE);
    const metric = { isMonotonic, temporality, keySize: this.#key.size };
    cursor.at = start;
    this.#each(POINTS_TAG, end, (pointEnd) => this.#readPoint(kind, metric, pointEnd));
  }

  #readPoint(kind: PointKind, metric: Metric, end: number): void {
    const cursor = this.#cursor;
    let timeAt = -1;
    let flags = 0;
    this.#rows.rowCount++;
    this.#rows.position++;
    this.#key.cut(metric.keySize);
    kind.begin();
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag === kind.attributes) this.#key.addAttribute(cursor.enter(end));
      else if (tag === TIME_TAG) timeAt = cursor.fixed(end);
      else if (tag === kind.flags) flags = cursor.uint(end);
      else if (!kind.read(tag, cursor, end)) {
        if (tag === kind.exemplars) this.#exemplarCount++;
        cursor.skip(tag, end);
      }
    }
    try {
      refuseTemporality(kind, metric.temporality);
      refuseTime(cursor.view, timeAt);
      const { table, series } = this.#rows.seriesOf(this.#key.take());
      const row = startRow(table, { series, position: this.#rows.position });
      table.timeWords[2 * row] = cursor.view.getInt32(timeAt, true);
      table.timeWords[2 * row + 1] = cursor.view.getInt32(timeAt + 4, true);
      if ((flags & NO_RECORDED_VALUE) === 0) kind.add(table, row, metric);
      else addValue(table, row, { name: '', value: Number.NaN, isStale: true });
      this.#rows.noteRow(table);
    } catch (error) {
      this.#rows.refuse(error, this.#key.composed, 1);
    }
  }
}

function refuseTemporality(kind: PointKind, temporality: number): void {
  if (!kind.hasTemporality || temporality === DELTA || temporality === CUMULATIVE) return;
  throw new LineRefused(
    () => `the aggregation temporality is ${temporality}; use 1 (delta) or 2 (cumulative)`,
  );
}

/** Checks the nanoseconds at `at`; below 0 if they are missing. */
function refuseTime(view: DataView, at: number): void {
  const low = at < 0 ? 0 : view.getInt32(at, true);
  const high = at < 0 ? 0 : view.getInt32(at + 4, true);
  if (low === 0 && high === 0) throw new LineRefused('the data point has no timestamp');
  if (high < 0 || (high === 0x7fffffff && low === -1))
    throw new LineRefused(
      () =>
        `the timestamp ${view.getBigUint64(at, true)} ns is out of range; the maximum is ${MAX_TIME_NS} ns`,
    );
}
