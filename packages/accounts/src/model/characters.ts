/**
 * Whether a string has more than `maxCount` characters. Characters outside the basic multilingual
 * plane count as one, as in web forms.
 */
export function isLongerThan(text: string, maxCount: number): boolean {
  return text.length > maxCount && [...text].length > maxCount;
}
