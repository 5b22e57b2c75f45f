/** Splits text into pages of `rows` lines, with one line reserved for the prompt. */
export function pages(text: string, rows: number): string[] {
  const lines = text.split('\n');
  const size = Math.max(1, rows - 1);
  const result: string[] = [];
  for (let i = 0; i < lines.length; i += size) result.push(lines.slice(i, i + size).join('\n'));
  return result;
}
