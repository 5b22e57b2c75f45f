/**
 * Lower case of the letters A to Z. Other characters stay as they are: names that differ must not become equal, as the Kelvin
 * sign (U+212A) and `k` do with `toLowerCase`.
 */
export function toAsciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
