export const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const RELATIVE = /^now(?:-(\d{1,9})([smhdw]))?(?:\/([mhdw]))?$/;
const ABSOLUTE =
  /^(\d{4}-\d\d-\d\d)(?:[T ]((?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/** Parses a time of the picker: `now-1h`, `now-1d/d` or RFC 3339, with UTC as the default time zone. */
export function parseTimeText(text: string, nowMs: number): number | undefined {
  const trimmed = text.trim();
  const relative = RELATIVE.exec(trimmed);
  if (relative !== null) {
    const [, amount = '0', unit = 's', round] = relative;
    const ms = nowMs - Number(amount) * (UNIT_MS[unit] ?? 0);
    return round === undefined ? ms : startOf(ms, round);
  }
  return parseAbsolute(trimmed);
}

/** Parses RFC 3339, also without seconds, time or time zone (UTC). */
export function parseAbsolute(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = ABSOLUTE.exec(text.trim()) ?? [];
  const midnight = new Date(`${date}T00:00Z`);
  // `Date.parse` reads 30 February as 2 March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(`${date}T`))
    return undefined;
  const ms = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the same time in the next month, on its last day if the month is shorter. */
export function addMonth(seconds: number): number {
  const date = new Date(seconds * 1000);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + 1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime() / 1000;
}

export const isRelative = (text: string): boolean => RELATIVE.test(text.trim());

function startOf(ms: number, unit: string): number {
  const size = UNIT_MS[unit] ?? 1;
  // January 1, 1970 was a Thursday; weeks start on Monday.
  const offset = unit === 'w' ? 3 * 86_400_000 : 0;
  return Math.floor((ms + offset) / size) * size - offset;
}

/** Formats a time in UTC without trailing zeros, for input fields. */
export const timeTextOf = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/\.000Z$/, 'Z')
    .replace('T00:00:00Z', '');
