/**
 * Keeps the first, lowest, highest and last point of each pixel column. The plot looks the same, and no spike is lost. Gaps
 * (NaN) are kept. Source: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", 2014.
 * @param times ascending
 * @returns the indexes of the points that are kept, ascending.
 */
export function reduceM4(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  options: {
    readonly from: number;
    readonly to: number;
    readonly minTime: number;
    readonly maxTime: number;
    readonly width: number;
  },
): Uint32Array {
  const { from, to, minTime, maxTime, width } = options;
  const kept = new Uint32Array(Math.min(to - from, width * 5 + 8));
  let count = 0;
  const scale = maxTime > minTime ? width / (maxTime - minTime) : 0;
  let row = from;
  while (row < to) {
    const pixel = Math.floor(((times[row] as number) - minTime) * scale);
    const first = row;
    let low = -1;
    let high = -1;
    let gap = -1;
    while (row < to && Math.floor(((times[row] as number) - minTime) * scale) === pixel) {
      const value = values[row] as number;
      if (Number.isNaN(value)) gap = row;
      else {
        if (low === -1 || value < (values[low] as number)) low = row;
        if (high === -1 || value > (values[high] as number)) high = row;
      }
      row++;
    }
    const places = [first, low, high, gap, row - 1]
      .filter((place) => place !== -1)
      .sort((a, b) => a - b);
    for (const [index, place] of places.entries()) {
      if (places[index - 1] !== place && count < kept.length) kept[count++] = place;
    }
  }
  return kept.subarray(0, count);
}

/** Returns the first index whose time is not below `time`. */
export function lowerBound(
  times: ArrayLike<number>,
  time: number,
  from: number,
  to: number,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
