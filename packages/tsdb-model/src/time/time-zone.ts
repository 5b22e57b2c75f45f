import { Memo } from '@plinth/kernel';
import { daysFromCivil, floorMod, NS_PER_DAY, NS_PER_SECOND } from './calendar.js';

const NS_PER_MINUTE = 60n * NS_PER_SECOND;

/** Formatters are expensive to create, and clients use only a few zone names. */
export const MAX_CACHED_ZONES = 64;
const formatters = new Memo<string, Intl.DateTimeFormat>({ maxCount: MAX_CACHED_ZONES });

/**
 * No zone has changed its offset and back within this time, so two equal offsets also apply in
 * between.
 */
const GRID_NS = 3n * NS_PER_DAY;
/** Offsets every three days. Computing one takes several microseconds. */
const gridOffsets = new Memo<string, bigint>({ maxCount: 16_384 });

/** Returns whether `name` is an IANA name or a fixed offset (`+02:00`, `-0530`, `+02`). */
export function isTimeZone(name: string): boolean {
  return fixedOffsetNs(name) !== undefined || formatterOf(name) !== undefined;
}

/** Returns the offset of a fixed-offset name; `undefined` for other names. */
export function fixedOffsetNs(name: string): bigint | undefined {
  if (/^(utc|z|gmt|etc\/utc)$/i.test(name)) return 0n;
  const match = /^([+-])(\d\d)(?::?(\d\d))?$/.exec(name);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  if (minutes >= 24 * 60) return undefined;
  return BigInt(match[1] === '-' ? -minutes : minutes) * NS_PER_MINUTE;
}

/** Returns local time minus UTC at `timeNs`. `zone` must be valid according to `isTimeZone`. */
export function offsetNsAt(zone: string, timeNs: bigint): bigint {
  const fixed = fixedOffsetNs(zone);
  if (fixed !== undefined) return fixed;
  const formatter = formatterOf(zone);
  if (formatter === undefined) return 0n;
  const place = (timeNs - floorMod(timeNs, GRID_NS)) / GRID_NS;
  const [before, after] = [place, place + 1n].map((at) =>
    gridOffsets.of(`${zone} ${at}`, () => readOffsetNs(formatter, at * GRID_NS)),
  );
  return before !== undefined && before === after ? before : readOffsetNs(formatter, timeNs);
}

function readOffsetNs(formatter: Intl.DateTimeFormat, timeNs: bigint): bigint {
  const wholeSeconds = timeNs - floorMod(timeNs, NS_PER_SECOND);
  const parts = new Map<string, string>();
  for (const { type, value } of formatter.formatToParts(Number(wholeSeconds / 1_000_000n))) {
    parts.set(type, value);
  }
  const part = (type: string) => Number(parts.get(type));
  const days = daysFromCivil({ year: part('year'), month: part('month'), day: part('day') });
  const seconds = part('hour') * 3600 + part('minute') * 60 + part('second');
  return BigInt(days) * NS_PER_DAY + BigInt(seconds) * NS_PER_SECOND - wholeSeconds;
}

/**
 * Returns the instant whose local time in `zone` is `localNs`. An ambiguous local time gives its
 * first instant; a skipped one is shifted by the length of the gap.
 */
export function instantOfLocal(zone: string, localNs: bigint): bigint {
  // Transitions are months apart, so the offsets one day earlier and later are those before and
  // after.
  const before = localNs - offsetNsAt(zone, localNs - NS_PER_DAY);
  const after = localNs - offsetNsAt(zone, localNs + NS_PER_DAY);
  if (before + offsetNsAt(zone, before) === localNs) {
    return after < before && after + offsetNsAt(zone, after) === localNs ? after : before;
  }
  return after + offsetNsAt(zone, after) === localNs ? after : before;
}

/** Formats an offset as `+01:00`, with seconds only if they are not zero. */
export function offsetText(offsetNs: bigint, separator = ':'): string {
  const total = Number((offsetNs < 0n ? -offsetNs : offsetNs) / NS_PER_SECOND);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = total % 60;
  return (
    (offsetNs < 0n ? '-' : '+') +
    two(Math.floor(total / 3600)) +
    separator +
    two(Math.floor(total / 60) % 60) +
    (seconds === 0 ? '' : separator + two(seconds))
  );
}

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return formatters.of(zone, makeFormatter);
  } catch {
    // The runtime throws for unknown zone names.
    return undefined;
  }
}

const makeFormatter = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
