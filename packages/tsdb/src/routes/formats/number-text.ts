/** Form of integral floats: `100` in the series shape, `100.0` elsewhere. */
export type WholeFloats = 'bare' | 'with_fraction';

/**
 * Returns the shortest text that parses to the same double. Source: tsdb-http, "Result formats".
 */
export function floatText(value: number, whole: WholeFloats): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value === Number.NEGATIVE_INFINITY) return '-inf';
  const text = Object.is(value, -0) ? '-0' : String(value);
  if (whole === 'bare') return text;
  if (Number.isInteger(value)) return text.includes('e') ? text.replace('e+', 'e') : `${text}.0`;
  return text;
}

/** Returns the double with the same shortest text as the 32-bit float `value`. */
export function shortestFloat32(value: number): number {
  if (!Number.isFinite(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number(value.toPrecision(9));
}
