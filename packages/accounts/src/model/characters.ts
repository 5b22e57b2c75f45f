/** Whether a text has more characters than that; one outside the basic plane counts once, as in a client's form. */
export function isLongerThan(text: string, maxCount: number): boolean {
  return text.length > maxCount && [...text].length > maxCount;
}
