import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { floorMod } from '@plinth/tsdb-model/time/calendar.js';
import type { Stride } from '../functions/time/time-bins.js';
import { notVerified } from './not-verified.js';
import { bigintText } from './trino-values.js';

const NS_PER_DAY = 86_400_000_000_000n;
/** Twice the width must fit into 64 bits. */
const MAX_WIDTH_NS = 2n ** 61n;

/** Returns the start of the bin of a time, with the floor before 1970 as well; the time is repeated in the text. */
export function binText(ns: string, stride: Stride, originNs: bigint): string {
  if (stride.kind === 'months') return monthsText(ns, stride.width, originNs);
  const { widthNs } = stride;
  if (widthNs > MAX_WIDTH_NS) throw notVerified('a bin of more than 73 years');
  const width = bigintText(widthNs);
  const lift = bigintText(2n * widthNs - floorMod(originNs, widthNs));
  const place = `mod(mod(${ns}, ${width}) + ${lift}, ${width})`;
  // The first bin starts at the earliest valid time (ADR 0101).
  return `(greatest(${ns}, ${bigintText(MIN_TIME_NS)} + ${place}) - ${place})`;
}

const MONTHS_TRUNCATION: Readonly<Record<number, string>> = {
  1: 'month',
  3: 'quarter',
  12: 'year',
};

function monthsText(ns: string, months: number, originNs: bigint): string {
  const unit = MONTHS_TRUNCATION[months];
  if (unit === undefined || originNs !== 0n) throw notVerified(`a bin of ${months} months`);
  const start = `date_trunc('${unit}', ${dateText(ns)})`;
  const days = `date_diff('day', DATE '1970-01-01', ${start})`;
  // The month of the earliest valid time starts before it.
  const isBefore = `${days} < ${bigintText(MIN_TIME_NS / NS_PER_DAY)}`;
  return `if(${isBefore}, ${bigintText(MIN_TIME_NS)}, ${days} * ${bigintText(NS_PER_DAY)})`;
}

const dateText = (ns: string): string => `CAST(from_unixtime_nanos(${ns}) AS date)`;

const clockText = (ns: string, cycleNs: bigint, unitNs: bigint): string => {
  const cycle = bigintText(cycleNs);
  return `(mod(mod(${ns}, ${cycle}) + ${cycle}, ${cycle}) / ${bigintText(unitNs)})`;
};

const PARTS: ReadonlyMap<string, (ns: string) => string> = new Map([
  ...['year', 'quarter', 'month', 'week', 'day'].map(
    (part) => [part, (ns: string) => `${part}(${dateText(ns)})`] as const,
  ),
  ['isoyear', (ns) => `year_of_week(${dateText(ns)})`],
  ['doy', (ns) => `day_of_year(${dateText(ns)})`],
  ['dow', (ns) => `mod(day_of_week(${dateText(ns)}), 7)`],
  ['isodow', (ns) => `(day_of_week(${dateText(ns)}) - 1)`],
  ['hour', (ns) => clockText(ns, NS_PER_DAY, 3_600_000_000_000n)],
  ['minute', (ns) => clockText(ns, 3_600_000_000_000n, 60_000_000_000n)],
  ['second', (ns) => clockText(ns, 60_000_000_000n, 1_000_000_000n)],
  ['millisecond', (ns) => clockText(ns, 60_000_000_000n, 1_000_000n)],
  ['microsecond', (ns) => clockText(ns, 60_000_000_000n, 1000n)],
  ['nanosecond', (ns) => clockText(ns, 60_000_000_000n, 1n)],
  ['epoch', (ns) => `(CAST(${ns} AS double) / DOUBLE '1000000000')`],
]);

/** Returns a part of a time (UTC), such as its hour. */
export function partText(ns: string, part: string): string {
  const textOf = PARTS.get(part);
  if (textOf === undefined) throw notVerified(`the date part ${part}`);
  return textOf(ns);
}
