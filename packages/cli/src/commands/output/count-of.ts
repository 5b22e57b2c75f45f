/** Formats a count with its noun, as in `1 row` and `2 rows`. */
export const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
