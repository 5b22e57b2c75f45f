/** Returns the position that an error message reports, as an index into the text; `undefined` when it reports none. */
export function errorPosition(message: string, text: string): number | undefined {
  const place = /Line: (\d+), Column: (\d+)/.exec(message);
  if (place !== null) {
    const lines = text.split('\n');
    const line = Number(place[1]) - 1;
    const before = lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0);
    return Math.min(text.length, before + Number(place[2]) - 1);
  }
  const offset = /at pos (\d+)/.exec(message)?.[1];
  if (offset === undefined) return undefined;
  // The offset counts UTF-8 bytes.
  const bytes = new TextEncoder().encode(text).subarray(0, Number(offset));
  return new TextDecoder().decode(bytes).length;
}
