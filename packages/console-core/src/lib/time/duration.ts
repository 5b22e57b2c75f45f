import { UNIT_MS } from './time-text.js';

/** Returns the number of seconds in a duration such as `30d`, `12h` or `1d 6h`; `undefined` if it is not valid. */
export function parseDuration(text: string): number | undefined {
  if (!/^\s*(?:\d+\s*[smhdw]\s*)+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)\s*([smhdw])/g)].reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * ((UNIT_MS[unit] ?? 0) / 1000),
    0,
  );
}
