import { UNIT_MS } from './time-text.js';

/** The seconds of `30d`, `12h` or `1d 6h`; `undefined` for an invalid duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^\s*(?:\d+\s*[smhdw]\s*)+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)\s*([smhdw])/g)].reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * ((UNIT_MS[unit] ?? 0) / 1000),
    0,
  );
}
