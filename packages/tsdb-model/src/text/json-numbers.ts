const QUOTE_OR_NUMBER = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Returns JSON with each number replaced, because `JSON.parse` rounds large integers. Skips
 * strings with a loop: a regular expression would need a stack proportional to their length.
 */
export function replaceNumbers(json: string, replace: (token: string) => string): string {
  let replaced = '';
  let from = 0;
  QUOTE_OR_NUMBER.lastIndex = 0;
  for (;;) {
    const found = QUOTE_OR_NUMBER.exec(json);
    if (found === null) return replaced + json.slice(from);
    const [token] = found;
    if (token === '"') {
      QUOTE_OR_NUMBER.lastIndex = endOfString(json, found.index) + 1;
      continue;
    }
    replaced += json.slice(from, found.index) + replace(token);
    from = QUOTE_OR_NUMBER.lastIndex;
  }
}

/** Returns the index of the closing quote, or the end of invalid JSON. */
function endOfString(text: string, start: number): number {
  for (let from = start + 1; ; ) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let before = end - 1;
    while (text[before] === '\\') before -= 1;
    // An even number of backslashes are escaped backslashes, so the quote is not escaped.
    if ((end - before) % 2 === 1) return end;
    from = end + 1;
  }
}
