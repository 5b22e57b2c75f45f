/** Formats a wire timestamp such as `2026-11-21T10:00:00.000Z`, always with three decimals. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Limits in UTC; with an offset, a four-digit year may fall outside of them. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an RFC 3339 timestamp into milliseconds; `undefined` if it is not valid, as for 30
 * February.
 */
export function parseTimestamp(text: string): number | undefined {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  if (day === undefined) return undefined;
  if (!isCalendarDate(Number(year), Number(month), Number(day))) return undefined;
  const ms = Date.parse(text);
  return ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

export function isCalendarDate(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return (
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  );
}
