import {
  cellText,
  FIGURE_COUNT,
  type FrameColumn,
  type FrameGroups,
  type FrameLine,
  numbersOf,
} from './frame.js';

import { statsOf } from './stats.js';

/** Above this, the strings are values rather than names, and each row would be its own series. */
const MAX_GROUP_COUNT = 50_000;

/** Groups rows with equal strings, in time order. @returns `undefined` when there are too many groups. */
export function groupRows(
  columns: readonly FrameColumn[],
  rowCount: number,
  times: Float64Array,
): FrameGroups | undefined {
  const keys = columns.filter((column) => column.kind === 'words');
  const groupOf = new Uint32Array(rowCount);
  const labels: string[][] = [];
  const known = new Map<string | number, number>();
  for (let row = 0; row < rowCount; row++) {
    const key = keyOf(keys, row);
    let group = known.get(key);
    if (group === undefined) {
      group = labels.length;
      if (group >= MAX_GROUP_COUNT) return undefined;
      known.set(key, group);
      labels.push(keys.map((column) => cellText(column, row)));
    }
    groupOf[row] = group;
  }
  const starts = new Uint32Array(labels.length + 1);
  for (const group of groupOf) starts[group + 1] = (starts[group + 1] as number) + 1;
  for (let group = 0; group < labels.length; group++) {
    starts[group + 1] = (starts[group + 1] as number) + (starts[group] as number);
  }
  const next = starts.slice();
  const order = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const group = groupOf[row] as number;
    const place = next[group] as number;
    order[place] = row;
    next[group] = place + 1;
  }
  for (let group = 0; group < labels.length; group++) {
    sortByTime(order.subarray(starts[group], starts[group + 1]), times);
  }
  return {
    labels,
    names: keys.map(({ name }) => name),
    starts,
    times: Float64Array.from(order, (row) => times[row] as number),
    lines: columns.flatMap((column) => lineOf(column, { order, starts }) ?? []),
  };
}

function lineOf(
  column: FrameColumn,
  { order, starts }: { readonly order: Uint32Array; readonly starts: Uint32Array },
): FrameLine | undefined {
  const numbers = numbersOf(column);
  if (numbers === undefined) return undefined;
  const { nulls } = column;
  const values = Float64Array.from(order, (row) =>
    nulls?.[row] === 1 ? Number.NaN : (numbers[row] as number),
  );
  const figures = new Float64Array((starts.length - 1) * FIGURE_COUNT);
  for (let group = 0; group + 1 < starts.length; group++) {
    const { last, min, max, avg, sum } = statsOf(values.subarray(starts[group], starts[group + 1]));
    figures.set([last, min, max, avg, sum], group * FIGURE_COUNT);
  }
  return { field: column.name, values, figures };
}

function keyOf(keys: readonly FrameColumn[], row: number): string | number {
  const [first] = keys;
  if (keys.length === 1 && first?.kind === 'words') return codeOf(first, row);
  return keys.map((column) => (column.kind === 'words' ? codeOf(column, row) : 0)).join();
}

const codeOf = (column: FrameColumn & { readonly kind: 'words' }, row: number): number =>
  column.nulls?.[row] === 1 ? -1 : (column.codes[row] as number);

function sortByTime(rows: Uint32Array, times: Float64Array): void {
  let isAscending = true;
  let isDescending = true;
  for (let index = 1; index < rows.length; index++) {
    const before = times[rows[index - 1] as number] as number;
    const here = times[rows[index] as number] as number;
    if (here < before) isAscending = false;
    if (here > before) isDescending = false;
  }
  if (isAscending) return;
  if (isDescending) rows.reverse();
  else rows.sort((a, b) => (times[a] as number) - (times[b] as number));
}
