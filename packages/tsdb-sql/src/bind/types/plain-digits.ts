/**
 * Formats a number without an exponent; integers have no fraction. Source: Rust, `Display` of f64.
 */
export function plainDigits(value: number): string {
  const [mantissa = '', exponent] = String(value).split('e');
  if (exponent === undefined) return mantissa;
  const digits = mantissa.replace('.', '');
  const shift = Number(exponent);
  return shift < 0 ? `0.${'0'.repeat(-shift - 1)}${digits}` : digits.padEnd(shift + 1, '0');
}
