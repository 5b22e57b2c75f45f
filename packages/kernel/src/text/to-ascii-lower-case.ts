/**
 * Converts only the letters A to Z to lower case. Different names must not become equal, as the Kelvin sign (U+212A) and
 * `k` do with `toLowerCase`.
 */
export function toAsciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
