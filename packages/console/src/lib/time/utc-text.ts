/** `2026-11-30 10:00:00` for seconds since 1970. */
export const utcText = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

/** Reads what `utcText` shows, also without seconds or time; `undefined` for anything else. */
export function parseUtc(text: string): number | undefined {
  const [, date, time = '00:00'] =
    /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?)Z?)?$/.exec(text.trim()) ?? [];
  const ms = Date.parse(`${date}T${time}Z`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

/** The same time in the next month, or its last day. */
export function addMonth(seconds: number): number {
  const date = new Date(seconds * 1000);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + 1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime() / 1000;
}
