const COLOUR_COUNT = 8;
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [10, 3, 2, 3]];

/** Returns one of eight distinguishable colors. The colors then repeat with dashed lines. */
export function styleOf(index: number): {
  readonly color: string;
  readonly dash: readonly number[];
} {
  const variable = `--series-${(index % COLOUR_COUNT) + 1}`;
  const color = cssColor(variable);
  return { color, dash: DASHES[Math.floor(index / COLOUR_COUNT) % DASHES.length] ?? [] };
}

export const cssColor = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(variable).trim();
