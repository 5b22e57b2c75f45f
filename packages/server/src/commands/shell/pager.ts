/** Splits text into screens of `rows` lines, one line kept free for the question whether to go on. */
export function pages(text: string, rows: number): string[] {
  const lines = text.split('\n');
  const size = Math.max(1, rows - 1);
  const result: string[] = [];
  for (let i = 0; i < lines.length; i += size) result.push(lines.slice(i, i + size).join('\n'));
  return result;
}
