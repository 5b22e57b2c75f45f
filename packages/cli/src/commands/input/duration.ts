const SECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_557_600,
};

/** Parses a duration such as `90m` or `30d`. Returns seconds; `undefined` if it is invalid. */
export function secondsOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+)([smhdwy])$/.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS_PER_UNIT[unit] ?? Number.NaN);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : undefined;
}
