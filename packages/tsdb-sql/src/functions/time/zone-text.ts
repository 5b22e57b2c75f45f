import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { fixedOffsetNs } from '@plinth/tsdb-model/time/time-zone.js';
import { quoteString } from '../../emit/quote.js';

/**
 * Macros of the functions below. Offsets are multiples of a second, so DuckDB's microseconds are
 * exact.
 */
export const ZONE_MACROS: readonly string[] = [
  'CREATE OR REPLACE MACRO plinth_micros(ns) AS CAST(ns // 1000 AS BIGINT) - CAST(ns % 1000 < 0 AS INTEGER)',
  `CREATE OR REPLACE MACRO plinth_zone_offset(ns, zone) AS
     (epoch_us(timezone(zone, make_timestamptz(plinth_micros(ns)))) - plinth_micros(ns)) * 1000`,
  `CREATE OR REPLACE MACRO plinth_local(ns, zone) AS
     list_transform([ns], lambda n: n + plinth_zone_offset(n, zone))[1]`,
];

/** Returns BIGINT text: the wall-clock time in `zone` of the instant `nsText`. */
export function localNsText(nsText: string, zone: string | undefined): string {
  const fixed = zone === undefined ? 0n : fixedOffsetNs(zone);
  if (fixed === 0n) return nsText;
  if (fixed !== undefined) return `(${nsText} + ${fixed})`;
  return `plinth_local(${nsText}, ${quoteString(zone ?? '')})`;
}

/**
 * Returns BIGINT text: the instant whose wall-clock time in `zone` is `localText`. A repeated time
 * maps to its first instant; a skipped time moves forward by the gap.
 */
export function instantNsText(localText: string, zone: string | undefined): string {
  const fixed = zone === undefined ? 0n : fixedOffsetNs(zone);
  if (fixed === 0n) return localText;
  if (fixed !== undefined) return `(${localText} - (${fixed}))`;
  return `plinth_instant(${localText}, ${quoteString(zone ?? '')})`;
}

/** Returns HUGEINT text: the wall-clock time of a BIGINT timestamp, which may exceed 64 bits. */
export const wideLocalText = (nsText: string, zone: string | undefined): string =>
  localNsText(`CAST(${nsText} AS HUGEINT)`, zone);

/**
 * `lo` is the candidate instant with the offset of the previous day, `hi` the one with the offset
 * of the next day; transitions are months apart. Both are valid for a repeated time, neither for a
 * skipped one.
 */
export const INSTANT_MACROS: readonly string[] = [
  'CREATE OR REPLACE MACRO plinth_reads(instant, local, zone) AS instant + plinth_zone_offset(instant, zone) = local',
  `CREATE OR REPLACE MACRO plinth_pick_instant(local, zone, lo, hi) AS CASE
     WHEN lo = hi THEN lo
     WHEN plinth_reads(lo, local, zone) AND plinth_reads(hi, local, zone) THEN least(lo, hi)
     WHEN plinth_reads(hi, local, zone) THEN hi
     ELSE lo END`,
  // Macros repeat the text of their arguments. A lambda evaluates it once, so nested calls stay
  // small.
  `CREATE OR REPLACE MACRO plinth_instant(local, zone) AS list_transform(
     list_transform([local], lambda l: {
       'at': l,
       'lo': l - plinth_zone_offset(l - ${NS_PER_DAY}, zone),
       'hi': l - plinth_zone_offset(l + ${NS_PER_DAY}, zone)}),
     lambda c: plinth_pick_instant(c['at'], zone, c['lo'], c['hi']))[1]`,
  // A bin no longer than the repeated hour exists twice; the input's offset selects one.
  `CREATE OR REPLACE MACRO plinth_pick_bin_instant(local, zone, lo, hi, width, input_offset) AS CASE
     WHEN lo = hi THEN lo
     WHEN plinth_reads(lo, local, zone) AND plinth_reads(hi, local, zone) THEN
       CASE WHEN width <= abs(lo - hi) AND local - greatest(lo, hi) = input_offset THEN greatest(lo, hi)
       ELSE least(lo, hi) END
     WHEN plinth_reads(hi, local, zone) THEN hi
     ELSE lo END`,
  `CREATE OR REPLACE MACRO plinth_bin_instant(local, zone, width, input_offset) AS list_transform(
     list_transform([local], lambda l: {
       'at': l,
       'lo': l - plinth_zone_offset(l - ${NS_PER_DAY}, zone),
       'hi': l - plinth_zone_offset(l + ${NS_PER_DAY}, zone)}),
     lambda c: plinth_pick_bin_instant(c['at'], zone, c['lo'], c['hi'], width, input_offset))[1]`,
];
