import type { EventLoopYielder } from '@plinth/kernel';
import type { Segment } from '@plinth/tsdb-model/segment.js';

/** Segments per event-loop tick. */
const SLICE = 5000;
const PARTS = 4;
const NS_PER_MS = 1_000_000n;

export interface MonthFiles {
  readonly month: string;
  readonly files: readonly Segment[];
  /** Does not depend on the order of the files. */
  readonly filesDigest: string;
  readonly rowCount: number;
}

interface Month {
  readonly files: Segment[];
  /** Sums of the parts of the ids, which are random. */
  readonly sums: Uint32Array;
  rowCount: number;
}

/** Groups files by the month of their first row. */
export async function groupByMonth(
  files: readonly Segment[],
  yielder: EventLoopYielder,
): Promise<readonly MonthFiles[]> {
  const months = new Map<string, Month>();
  for (const [index, file] of files.entries()) {
    if (index > 0 && index % SLICE === 0) await yielder.next();
    const name = monthOf(file.minTime);
    let month = months.get(name);
    if (month === undefined) {
      month = { files: [], sums: new Uint32Array(PARTS), rowCount: 0 };
      months.set(name, month);
    }
    month.files.push(file);
    month.rowCount += file.rowCount;
    addId(month.sums, file.id);
  }
  return [...months]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([month, { files: own, sums, rowCount }]) => ({
      month,
      files: own,
      filesDigest: `${own.length}-${[...sums].map((sum) => sum.toString(16)).join('-')}`,
      rowCount,
    }));
}

function addId(sums: Uint32Array, id: string): void {
  const hex = id.replaceAll('-', '');
  for (let part = 0; part < PARTS; part++) {
    // An overflow of the array's type is intended.
    sums[part] = (sums[part] as number) + Number.parseInt(hex.slice(part * 8, part * 8 + 8), 16);
  }
}

function monthOf(timeNs: bigint): string {
  const date = new Date(Number(timeNs / NS_PER_MS));
  return `${date.getUTCFullYear()}${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
