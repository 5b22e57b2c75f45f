import type { TableRows } from '../columns/table-rows.js';
import { FIXED_64, type ProtoCursor, tagOf } from '../messages/proto-cursor.js';

/** Properties of a metric that apply to all of its data points. */
export interface MetricTraits {
  readonly isMonotonic: boolean;
}

/**
 * A kind of data point. Holds the values of one point between `begin` and `add`, so that no object
 * is created per point. Source: OpenTelemetry, `metrics/v1/metrics.proto`.
 */
export interface PointKind {
  /** Whether its metrics have a temporality. */
  readonly hasTemporality: boolean;
  /** Tags of the fields that all kinds have, with different numbers. */
  readonly attributes: number;
  readonly flags: number;
  /** -1 if points of this kind have no exemplars. */
  readonly exemplars: number;
  begin(): void;
  /** Reads a field. Returns false if it is not a field of this kind. Throws `MessageInvalid`. */
  read(tag: number, cursor: ProtoCursor, end: number): boolean;
  /** Completes the row. If it throws `LineRefused`, nothing is added. */
  add(table: TableRows, row: number, traits: MetricTraits): void;
}

export const TIME_TAG = tagOf(3, FIXED_64);
