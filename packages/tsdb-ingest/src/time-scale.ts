import type { Precision } from '@plinth/tsdb-model/parsed-body.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { LineRefused } from './slow-path/line-refused.js';

/** Nanoseconds per unit. */
const UNIT_NS: Record<Exclude<Precision, 'auto'>, bigint> = {
  nanosecond: 1n,
  microsecond: 1_000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
};

const NAME: Record<Precision, string> = {
  auto: 'Auto',
  nanosecond: 'Nanosecond',
  microsecond: 'Microsecond',
  millisecond: 'Millisecond',
  second: 'Second',
  minute: 'Minute',
  hour: 'Hour',
};

/**
 * Converts a timestamp to nanoseconds. Throws `LineRefused` outside the range that queries support,
 * which excludes the last 64-bit values. Source: tsdb-http, "Parameter rules"; query-languages,
 * "Data model seen by both languages".
 */
export function toNanoseconds(timestamp: bigint, precision: Precision): bigint {
  const scaled = timestamp * unitNs(timestamp, precision);
  if (scaled >= MIN_TIME_NS && scaled <= MAX_TIME_NS) return scaled;
  throw new LineRefused(
    () => `timestamp, ${timestamp}, out of range for precision: ${NAME[precision]}`,
  );
}

/**
 * Returns the timestamp of lines without one: the arrival time of the request, truncated to the
 * unit; not truncated for `auto`.
 */
export function arrivalTime(receivedNs: bigint, precision: Precision): bigint {
  if (precision === 'auto') return receivedNs;
  return receivedNs - (receivedNs % UNIT_NS[precision]);
}

function unitNs(timestamp: bigint, precision: Precision): bigint {
  if (precision !== 'auto') return UNIT_NS[precision];
  const size = timestamp < 0n ? -timestamp : timestamp;
  if (size < 5_000_000_000n) return UNIT_NS.second;
  if (size < 5_000_000_000_000n) return UNIT_NS.millisecond;
  if (size < 5_000_000_000_000_000n) return UNIT_NS.microsecond;
  return UNIT_NS.nanosecond;
}
