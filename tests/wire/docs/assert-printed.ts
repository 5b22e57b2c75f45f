import assert from 'node:assert/strict';

/** Compares printed output with the output on the page, in which `…` matches any text. */
export function assertPrinted(printed: string, shown: string): void {
  const tidy = (text: string) => text.replaceAll(/[ \t]+$/gm, '').trimEnd();
  const pattern = tidy(shown)
    .split('\n')
    .map((line) => (line.trim() === '…' ? '[^]*' : line.split('…').map(literal).join('.+?')))
    .join('\n');
  if (new RegExp(`^${pattern}$`).test(tidy(printed))) return;
  assert.equal(tidy(printed), tidy(shown));
}

/** Compares JSON in any formatting; the string `…` matches any value. */
export function assertJsonPrinted(printed: string, shown: string): void {
  const expected: unknown = JSON.parse(shown);
  const actual: unknown = JSON.parse(printed);
  assert.deepEqual(withHoles(actual, expected), expected);
}

/** Copies `actual`, with `…` where `expected` has it. */
function withHoles(actual: unknown, expected: unknown): unknown {
  if (expected === '…' && actual !== undefined) return '…';
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, index) => withHoles(item, expected[index]));
  }
  if (!isObject(actual) || !isObject(expected)) return actual;
  const members = Object.entries(actual);
  return Object.fromEntries(
    members.map(([name, value]) => [name, withHoles(value, expected[name])]),
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
