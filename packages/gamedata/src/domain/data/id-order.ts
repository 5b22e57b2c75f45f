import { compareText } from '../../model/normal-text.js';
import type { Row } from './row.js';
import { TimeSlices } from './time-slices.js';

/** Rows of a table sorted by id. */
export interface IdOrder {
  /** Rank in the order, by row position. */
  readonly rankOf: Uint32Array;
  /** Row position, by rank in the order. */
  readonly positionOf: Uint32Array;
}

const RUN_LENGTH = 1024;

/** Sorts rows with a merge sort in time slices, because sorting 100,000 rows in one step would block the event loop. */
export async function orderIds(rows: readonly Row[]): Promise<IdOrder> {
  const idAt = (position: number): string => rows[position]?.id ?? '';
  let from = Uint32Array.from(rows, (_row, position) => position);
  const slices = new TimeSlices();
  for (let start = 0; start < from.length; start += RUN_LENGTH) {
    from.subarray(start, start + RUN_LENGTH).sort((a, b) => compareText(idAt(a), idAt(b)));
    await slices.check();
  }
  let to = new Uint32Array(from.length);
  for (let length = RUN_LENGTH; length < from.length; length *= 2) {
    for (let start = 0; start < from.length; start += 2 * length) {
      const end = Math.min(start + 2 * length, from.length);
      const middle = Math.min(start + length, end);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const isLeft =
          left < middle &&
          (right >= end || compareText(idAt(from[left] ?? 0), idAt(from[right] ?? 0)) <= 0);
        to[at] = (isLeft ? from[left++] : from[right++]) ?? 0;
        const pause = slices.next();
        if (pause !== undefined) await pause;
      }
    }
    [from, to] = [to, from];
  }
  for (const [rank, position] of from.entries()) to[position] = rank;
  return { rankOf: to, positionOf: from };
}
