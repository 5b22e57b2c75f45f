/** The values of one field over the rows of a part. */
export interface StoredColumn {
  /** The narrowest type that holds every value exactly; booleans are 0 and 1. */
  readonly values: Int8Array | Int16Array | Int32Array | Float64Array;
  /**
   * Bit `i & 7` of byte `i >> 3` is set if row i has the field. `undefined` means that all rows
   * have it.
   */
  readonly validity: Uint8Array | undefined;
}

/**
 * Rows of one source (a segment, or some rows of a generation) as typed arrays, sorted by series
 * and time. Run `i` is the rows `[runStarts[i], runEnds[i])`, all of the series `runSeries[i]`.
 * Immutable.
 */
export interface Part {
  readonly rowCount: number;
  /** Series ordinals of the table's series index, ascending. */
  readonly runSeries: Uint32Array;
  readonly runStarts: Uint32Array;
  readonly runEnds: Uint32Array;
  /** Time of a row: `baseNs + offsets[row] * unitNs`. Ascending within a run. */
  readonly baseNs: bigint;
  readonly unitNs: number;
  readonly offsets: Uint32Array;
  readonly minOffset: number;
  readonly maxOffset: number;
  /** Position of each row in its source; `undefined` if the order is the same. */
  readonly order: Uint16Array | Uint32Array | undefined;
}

/** Returns the minimum and maximum timestamp of a part. */
export function timesOf(part: Part): { readonly min: bigint; readonly max: bigint } {
  const unit = BigInt(part.unitNs);
  return { min: part.baseNs, max: part.baseNs + BigInt(part.maxOffset) * unit };
}

export function partSizeBytes(part: Part): number {
  return (
    part.offsets.byteLength +
    part.runSeries.byteLength +
    part.runStarts.byteLength +
    part.runEnds.byteLength +
    (part.order?.byteLength ?? 0)
  );
}

export function columnSizeBytes(column: StoredColumn): number {
  return column.values.byteLength + (column.validity?.byteLength ?? 0);
}

/** Returns the index of the series' run; -1 if the part has no row of the series. */
export function findRun(part: Part, series: number): number {
  const { runSeries } = part;
  let low = 0;
  let high = runSeries.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = runSeries[middle] as number;
    if (at === series) return middle;
    if (at < series) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/**
 * Returns the first row in `[from, to)` whose offset is at least `offset`; `to` if there is none.
 */
export function lowerBound(offsets: Uint32Array, from: number, to: number, offset: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] as number) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the offsets of a part's rows between two timestamps (both inclusive); `undefined` if
 * there are none.
 */
export function offsetRange(
  part: Part,
  minTimeNs: bigint,
  maxTimeNs: bigint,
): { readonly min: number; readonly max: number } | undefined {
  const unit = BigInt(part.unitNs);
  const first = part.baseNs + BigInt(part.minOffset) * unit;
  const last = part.baseNs + BigInt(part.maxOffset) * unit;
  if (minTimeNs > last || maxTimeNs < first) return undefined;
  const min =
    minTimeNs <= first ? part.minOffset : Number((minTimeNs - part.baseNs + unit - 1n) / unit);
  const max = maxTimeNs >= last ? part.maxOffset : Number((maxTimeNs - part.baseNs) / unit);
  return min > max ? undefined : { min, max };
}

export function timeAt(part: Part, row: number): bigint {
  return part.baseNs + BigInt((part.offsets[row] as number) * part.unitNs);
}

export function isSet(validity: Uint8Array, row: number): boolean {
  return ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
}
