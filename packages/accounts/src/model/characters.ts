/**
 * Whether a text has more than `maxCount` characters. A character outside the basic plane counts as
 * one, as in web forms.
 */
export function isLongerThan(text: string, maxCount: number): boolean {
  return text.length > maxCount && [...text].length > maxCount;
}
