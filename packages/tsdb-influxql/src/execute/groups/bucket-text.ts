import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { binText } from '@plinth/tsdb-sql/functions/time/time-bins.js';
import { type outputColumn, sqlTypeOf } from '../series/table-reader.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';

export interface Bucket {
  readonly text: string;
  readonly column: ReturnType<typeof outputColumn>;
  startOf(value: bigint | number): bigint;
}

/**
 * Returns the DuckDB SQL of a row's bucket. With a lower bound it is a small bucket number, which
 * DuckDB groups fastest; otherwise it is the bucket start.
 */
export function bucketText(
  request: { readonly hasLowerBound: boolean; readonly minNs: bigint; readonly maxNs: bigint },
  timeBuckets: TimeBuckets,
  time: string,
): Bucket {
  const { everyNs, offsetNs } = timeBuckets;
  const origin = timeBuckets.bucketOf(request.minNs).start;
  // The very first bucket starts at the earliest valid time, which is not a multiple of the
  // interval.
  const isCounted = request.hasLowerBound && origin > MIN_TIME_NS;
  if (isCounted && (request.maxNs - origin) / everyNs < 2n ** 31n) {
    // The difference between two 64-bit timestamps can exceed 64 bits.
    const isWide = request.maxNs - origin > MAX_TIME_NS;
    const ns = isWide ? `CAST(epoch_ns(${time}) AS HUGEINT)` : `epoch_ns(${time})`;
    return {
      text: `CAST((${ns} - (${origin})) // ${everyNs} AS INTEGER)`,
      column: {
        name: 'b',
        type: { kind: 'int', bits: 32, signed: true },
        tableColumnKind: undefined,
      },
      startOf: (index) => origin + BigInt(index) * everyNs,
    };
  }
  return {
    text: binText(`epoch_ns(${time})`, { kind: 'fixed', widthNs: everyNs }, offsetNs),
    column: { name: 'b', type: sqlTypeOf('integer'), tableColumnKind: undefined },
    startOf: (start) => BigInt(start),
  };
}
