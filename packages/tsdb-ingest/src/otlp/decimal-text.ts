/**
 * Formats a number without an exponent, with the fewest digits that identify it, as the InfluxDB
 * exporter of the OpenTelemetry Collector names buckets: Go's `FormatFloat(value, 'f', -1, 64)`.
 */
export function decimalText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  const text = String(value);
  const [mantissa = '', exponentText] = text.split('e');
  if (exponentText === undefined) return text;
  const exponent = Number(exponentText);
  const sign = value < 0 ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  // `String` uses an exponent only if the decimal point is outside the digits.
  return exponent < 0
    ? `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
    : sign + digits.padEnd(exponent + 1, '0');
}
