import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { IntervalValue, SqlType } from '@plinth/tsdb-model/sql-type.js';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { fixedOffsetNs } from '@plinth/tsdb-model/time/time-zone.js';
import { instantNsText, localNsText } from '../time/zone-text.js';

/**
 * Timestamps between two ends, each computed from the one before: 31 January, 29 February, 29
 * March.
 */
export interface TimeSteps {
  /** Start, end and step for DuckDB's `range` and `generate_series`. */
  readonly args: readonly string[];
  /** Converts a DuckDB item to TIMESTAMP_NS text. */
  readonly item: (counted: string) => string;
  /** Upper bound of the item count, as BIGINT text. */
  readonly countText: string;
}

export interface TimeRange {
  readonly name: string;
  /** BIGINT text, nanoseconds since 1970. */
  readonly startNs: string;
  readonly endNs: string;
  readonly step: IntervalValue;
  readonly type: Extract<SqlType, { kind: 'timestamp' }>;
}

const MIN_DAYS_PER_MONTH = 28n;

/**
 * Returns the items of `range` or `generate_series` over timestamps. Throws `plan_error` and
 * `not_implemented`.
 * Source: DataFusion, "range" and "generate_series".
 */
export function timeSteps({ name, startNs, endNs, step, type }: TimeRange): TimeSteps {
  const days = BigInt(step.months) * MIN_DAYS_PER_MONTH + BigInt(step.days);
  const leastNs = days * NS_PER_DAY + step.nanos;
  if (step.months === 0 && step.days === 0 && step.nanos === 0n) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Interval argument to ${name} must not be 0`,
    );
  }
  const signs = new Set(
    [step.months, step.days, step.nanos].map((part) => Math.sign(Number(part))),
  );
  if (signs.has(1) && signs.has(-1))
    throw tsdbError(
      'not_implemented',
      `${name} with an interval that has positive and negative parts`,
    );
  const countText = `(${endNs} - ${startNs}) // (${leastNs})`;
  const zone = step.months === 0 && step.days === 0 ? undefined : type.zone;
  if (zone !== undefined && fixedOffsetNs(zone) === undefined && step.nanos !== 0n)
    throw tsdbError(
      'not_implemented',
      `${name} in a time zone with a step that combines days and hours`,
    );
  const [from, to] = [localNsText(startNs, zone), localNsText(endNs, zone)];
  const item = (ns: string) => `make_timestamp_ns(${instantNsText(ns, zone)})`;
  if (step.months === 0) return { args: [from, to, `(${leastNs})::BIGINT`], item, countText };
  return { ...monthSteps(from, to, step), countText, item: (at) => item(nsOfMicros(at, from)) };
}

/**
 * Computes the steps with DuckDB's calendar, which has microsecond precision. The remaining
 * nanoseconds come from the start.
 */
function monthSteps(from: string, to: string, { months, days, nanos }: IntervalValue) {
  if (nanos % 1000n !== 0n)
    throw tsdbError('not_implemented', 'steps that combine months and nanoseconds');
  const micros = [from, `${to} - ${belowMicros(from)}`].map(
    (ns) => `make_timestamp(plinth_micros(${ns}))`,
  );
  const interval = `to_months(${months}) + to_days(${days}) + to_microseconds(${nanos / 1000n})`;
  return { args: [...micros, interval] };
}

const belowMicros = (ns: string): string => `plinth_mod(${ns}, 1000)`;

const nsOfMicros = (at: string, from: string): string =>
  `(epoch_us(${at}) * 1000 + ${belowMicros(from)})`;
