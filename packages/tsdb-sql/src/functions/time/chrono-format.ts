import { Memo } from '@plinth/kernel';
import {
  civilFromDays,
  daysFromCivil,
  floorDiv,
  floorMod,
  isoWeek,
  NS_PER_DAY,
  NS_PER_SECOND,
} from '@plinth/tsdb-model/time/calendar.js';
import { offsetNsAt, offsetText } from '@plinth/tsdb-model/time/time-zone.js';

export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

/** One item of a format: literal text, or a specifier with its padding flag (`-`, `_`, `0`). */
export type FormatItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'spec'; readonly spec: string; readonly pad: string };

/** Specifiers that are abbreviations of other formats. */
const COMPOSED: Readonly<Record<string, string>> = {
  D: '%m/%d/%y',
  x: '%m/%d/%y',
  F: '%Y-%m-%d',
  v: '%e-%b-%Y',
  R: '%H:%M',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  r: '%I:%M:%S %p',
  c: '%a %b %e %H:%M:%S %Y',
  '+': '%Y-%m-%dT%H:%M:%S%.f%:z',
};

/** A query uses few formats; the cache is bounded because clients supply them. */
const MAX_CACHED_FORMATS = 256;
const parsedFormats = new Memo<string, readonly FormatItem[] | null>({
  maxCount: MAX_CACHED_FORMATS,
});

/** Splits a strftime format in chrono's syntax; returns `undefined` for an unknown specifier. */
export function formatItems(format: string): readonly FormatItem[] | undefined {
  return parsedFormats.of(format, () => splitFormat(format) ?? null) ?? undefined;
}

function splitFormat(format: string): readonly FormatItem[] | undefined {
  const items: FormatItem[] = [];
  const pattern = /%([-_0]?)(\.[369]f|\.f|[369]f|:{1,2}z|#z|[A-Za-z+%])|%|[^%]+/gs;
  for (const [whole, pad, spec] of format.matchAll(pattern)) {
    if (spec === undefined) {
      if (whole === '%') return undefined;
      items.push({ kind: 'text', text: whole });
      continue;
    }
    const composed = COMPOSED[spec];
    if (composed !== undefined) items.push(...(splitFormat(composed) ?? []));
    else if (spec === '%' || spec === 't' || spec === 'n') {
      items.push({ kind: 'text', text: spec === '%' ? '%' : spec === 't' ? '\t' : '\n' });
    } else if (isKnown(spec)) items.push({ kind: 'spec', spec, pad: pad ?? '' });
    else return undefined;
  }
  return items;
}

function isKnown(spec: string): boolean {
  return spec.length > 1 || 'YCyGgmbBhdeaAwujUWVHkIlPpMSfZzs'.includes(spec);
}

/**
 * Formats `timeNs` in the `zone` of its value; a timestamp without zone is formatted in UTC.
 * @returns `undefined` for an invalid format.
 * Source: chrono, module `format::strftime`.
 */
export function formatTime(
  timeNs: bigint,
  format: string,
  zone: string | undefined,
): string | undefined {
  const items = formatItems(format);
  // `%#z` can only be parsed.
  if (items === undefined || items.some((item) => item.kind === 'spec' && item.spec === '#z'))
    return undefined;
  const offsetNs = zone === undefined ? 0n : offsetNsAt(zone, timeNs);
  const wall = wallClock(timeNs + offsetNs);
  return items
    .map((item) =>
      item.kind === 'text' ? item.text : specText(item, wall, { timeNs, offsetNs, zone }),
    )
    .join('');
}

interface WallClock {
  /** Days since 1970-01-01. */
  readonly days: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** 1..366 */
  readonly dayOfYear: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanos: number;
}

function wallClock(localNs: bigint): WallClock {
  const days = Number(floorDiv(localNs, NS_PER_DAY));
  const date = civilFromDays(days);
  const seconds = Number(floorMod(localNs, NS_PER_DAY) / NS_PER_SECOND);
  return {
    days,
    ...date,
    weekday: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysFromCivil({ year: date.year, month: 1, day: 1 }) + 1,
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    nanos: Number(floorMod(localNs, NS_PER_SECOND)),
  };
}

function specText(
  item: Extract<FormatItem, { kind: 'spec' }>,
  wall: WallClock,
  instant: {
    readonly timeNs: bigint;
    readonly offsetNs: bigint;
    readonly zone: string | undefined;
  },
): string {
  const zero = (value: number, width = 2) => padded(value, width, item.pad || '0');
  const space = (value: number, width = 2) => padded(value, width, item.pad || '_');
  const hour12 = wall.hour % 12 === 0 ? 12 : wall.hour % 12;
  const fraction = String(wall.nanos).padStart(9, '0');
  switch (item.spec) {
    case 'Y':
      return zero(wall.year, 4);
    case 'C':
      return zero(Math.floor(wall.year / 100));
    case 'y':
      return zero(wall.year % 100);
    case 'G':
      return zero(isoWeek(wall.days).year, 4);
    case 'g':
      return zero(isoWeek(wall.days).year % 100);
    case 'V':
      return zero(isoWeek(wall.days).week);
    case 'U':
      return zero(Math.floor((wall.dayOfYear + 6 - wall.weekday) / 7));
    case 'W':
      return zero(Math.floor((wall.dayOfYear + 6 - ((wall.weekday + 6) % 7)) / 7));
    case 'm':
      return zero(wall.month);
    case 'b':
    case 'h':
      return nameAt(MONTHS, wall.month - 1).slice(0, 3);
    case 'B':
      return nameAt(MONTHS, wall.month - 1);
    case 'd':
      return zero(wall.day);
    case 'e':
      return space(wall.day);
    case 'a':
      return nameAt(WEEKDAYS, wall.weekday).slice(0, 3);
    case 'A':
      return nameAt(WEEKDAYS, wall.weekday);
    case 'w':
      return String(wall.weekday);
    case 'u':
      return String(wall.weekday === 0 ? 7 : wall.weekday);
    case 'j':
      return zero(wall.dayOfYear, 3);
    case 'H':
      return zero(wall.hour);
    case 'k':
      return space(wall.hour);
    case 'I':
      return zero(hour12);
    case 'l':
      return space(hour12);
    case 'P':
      return wall.hour < 12 ? 'am' : 'pm';
    case 'p':
      return wall.hour < 12 ? 'AM' : 'PM';
    case 'M':
      return zero(wall.minute);
    case 'S':
      return zero(wall.second);
    case 'f':
      return fraction;
    case '3f':
    case '6f':
    case '9f':
      return fraction.slice(0, Number(item.spec[0]));
    case '.3f':
    case '.6f':
    case '.9f':
      return `.${fraction.slice(0, Number(item.spec[1]))}`;
    case '.f':
      return shortFraction(fraction);
    case 's':
      return String(floorDiv(instant.timeNs, NS_PER_SECOND));
    case 'Z':
      return instant.zone === undefined ? 'UTC' : offsetText(instant.offsetNs);
    case 'z':
      return offsetText(instant.offsetNs, '');
    default:
      return offsetText(instant.offsetNs);
  }
}

/**
 * Formats the fraction with the required number of three-digit groups, empty for complete seconds.
 */
function shortFraction(fraction: string): string {
  if (fraction === '000000000') return '';
  if (fraction.endsWith('000000')) return `.${fraction.slice(0, 3)}`;
  return fraction.endsWith('000') ? `.${fraction.slice(0, 6)}` : `.${fraction}`;
}

function padded(value: number, width: number, pad: string): string {
  return pad === '-' ? String(value) : String(value).padStart(width, pad === '_' ? ' ' : '0');
}

function nameAt(names: readonly string[], index: number): string {
  return names[index] ?? '';
}
