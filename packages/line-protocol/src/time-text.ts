export const TIME_FORMATS = ['auto', 'rfc3339', 's', 'ms', 'us', 'ns'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

const DATES = 'a date such as 2024-12-30T08:00:00Z, 2024-12-30 08:00:00 or 2024-12-30';
/** Accepted forms, for use after "is not" in error messages. */
export const TIME_TEXTS: Readonly<Record<TimeFormat, string>> = {
  auto: `${DATES}, or an integer (s, ms, us or ns since 1970)`,
  rfc3339: DATES,
  s: 'an integer (seconds since 1970)',
  ms: 'an integer (milliseconds since 1970)',
  us: 'an integer (microseconds since 1970)',
  ns: 'an integer (nanoseconds since 1970)',
};

const NS_PER_UNIT = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n } as const;

const DATE_TIME =
  /^(\d{4})[-/](\d{2})[-/](\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Parses a time string into nanoseconds since 1970. The default zone is UTC. Returns `undefined` if
 * the string is not valid.
 */
export function readTimeNs(text: string, format: TimeFormat): bigint | undefined {
  if (format === 'rfc3339') return readDateTime(text);
  if (format !== 'auto') {
    return /^-?\d+$/.test(text) ? BigInt(text) * NS_PER_UNIT[format] : undefined;
  }
  return /^-?\d+$/.test(text) ? scaleByMagnitude(BigInt(text)) : readDateTime(text);
}

/**
 * Rule of the write endpoint's `auto` precision: seconds below 5e9, milliseconds below 5e12, and so
 * on.
 */
function scaleByMagnitude(value: bigint): bigint {
  const size = value < 0n ? -value : value;
  if (size < 5_000_000_000n) return value * NS_PER_UNIT.s;
  if (size < 5_000_000_000_000n) return value * NS_PER_UNIT.ms;
  return size < 5_000_000_000_000_000n ? value * NS_PER_UNIT.us : value;
}

function readDateTime(text: string): bigint | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, minutes = '00:00', second = '00', fraction = '', zone = 'Z'] = match;
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const date = `${year}-${month}-${day}`;
  const ms = Date.parse(`${date}T${minutes}:${second}${offset}`);
  // `Date.parse` turns 30 February into a day in March, so the date must stay unchanged in a round
  // trip.
  if (Number.isNaN(ms) || !new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)) {
    return undefined;
  }
  return BigInt(ms) * NS_PER_UNIT.ms + BigInt(fraction.padEnd(9, '0'));
}
