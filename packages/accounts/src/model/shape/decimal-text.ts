/** Formats a number as plain decimal digits, never as `1e-7`. */
export function decimalText(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const plain = value.toFixed(20);
  return plain.includes('e') ? plain : plain.replace(/\.?0+$/, '');
}
