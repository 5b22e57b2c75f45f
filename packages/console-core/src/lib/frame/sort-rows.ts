import { type FrameColumn, isNull } from './frame.js';

/** Returns the row order for a sorted column. The sort is stable, and missing values come last in both directions. */
export function sortRows(
  column: FrameColumn,
  rowCount: number,
  isDescending: boolean,
): Uint32Array<ArrayBuffer> {
  const compare = comparisonOf(column);
  const hasValue = (row: number): boolean =>
    !isNull(column, row) &&
    !(column.kind === 'number' && Number.isNaN(column.values[row] as number));
  const order = new Uint32Array(rowCount);
  let valueCount = 0;
  for (let row = 0; row < rowCount; row++) if (hasValue(row)) order[valueCount++] = row;
  const values = order.subarray(0, valueCount);
  const sign = isDescending ? -1 : 1;
  values.sort((a, b) => sign * compare(a, b) || a - b);
  let at = valueCount;
  for (let row = 0; row < rowCount; row++) if (!hasValue(row)) order[at++] = row;
  return order;
}

function comparisonOf(column: FrameColumn): (a: number, b: number) => number {
  switch (column.kind) {
    case 'number': {
      const { values } = column;
      return (a, b) => (values[a] as number) - (values[b] as number);
    }
    case 'integer':
    case 'time': {
      // Comparing doubles is fast and nearly always decides.
      const { values, numbers } = column;
      return (a, b) => {
        const difference = (numbers[a] as number) - (numbers[b] as number);
        if (difference !== 0) return difference;
        const [left, right] = [values[a] as bigint, values[b] as bigint];
        return left < right ? -1 : left > right ? 1 : 0;
      };
    }
    case 'words': {
      const { codes, values } = column;
      const ranks = new Int32Array(values.length);
      const sorted = values.map((_, code) => code).sort((a, b) => compareTexts(values, a, b));
      for (const [rank, code] of sorted.entries()) ranks[code] = rank;
      return (a, b) => (ranks[codes[a] as number] ?? 0) - (ranks[codes[b] as number] ?? 0);
    }
    case 'text': {
      const { offsets, bytes } = column;
      return (a, b) => {
        let [left, right] = [offsets[a] as number, offsets[b] as number];
        const [leftEnd, rightEnd] = [offsets[a + 1] as number, offsets[b + 1] as number];
        for (; left < leftEnd && right < rightEnd; left++, right++) {
          const difference = (bytes[left] as number) - (bytes[right] as number);
          if (difference !== 0) return difference;
        }
        return leftEnd - left - (rightEnd - right);
      };
    }
  }
}

function compareTexts(values: readonly string[], a: number, b: number): number {
  const [left = '', right = ''] = [values[a], values[b]];
  return left < right ? -1 : left > right ? 1 : 0;
}
