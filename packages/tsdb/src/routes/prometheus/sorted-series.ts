import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Labels } from './sample-pieces.js';

export interface EncodedSeries {
  readonly labels: Labels;
  readonly pieces: readonly Buffer[];
  readonly sizeBytes: number;
}

/** Maximum size of the series that are held for sorting. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/**
 * Returns series in the order of their labels, in which Prometheus merges them. InfluxQL also returns this order if all
 * series of a table have the same labels. If the held series exceed the limit, the sorted ones are released, and a
 * later series that belongs before them is an error.
 */
export class SortedSeries {
  #pending: EncodedSeries[] = [];
  #heldBytes = 0;
  #last: Labels | undefined;

  /** @returns the series that can be sent. Throws `parameter_invalid`. */
  *add(series: EncodedSeries): Generator<EncodedSeries, void, undefined> {
    if (this.#last !== undefined && compareLabels(series.labels, this.#last) < 0)
      throw tsdbError(
        'parameter_invalid',
        `series with different label names exceed ${MAX_HELD_BYTES} bytes, so they cannot be sorted; select fewer series or a shorter time range`,
      );
    this.#pending.push(series);
    this.#heldBytes += series.sizeBytes;
    if (this.#heldBytes > MAX_HELD_BYTES) yield* this.rest();
  }

  /** All held series. */
  *rest(): Generator<EncodedSeries, void, undefined> {
    const sorted = this.#pending.sort((a, b) => compareLabels(a.labels, b.labels));
    this.#pending = [];
    this.#heldBytes = 0;
    this.#last = sorted.at(-1)?.labels ?? this.#last;
    yield* sorted;
  }
}

/** Source: Prometheus, `labels.Compare`. */
export function compareLabels(a: Labels, b: Labels): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [nameA, valueA] = a[i] as Labels[number]; // below both lengths
    const [nameB, valueB] = b[i] as Labels[number];
    const order = compareByteOrder(nameA, nameB) || compareByteOrder(valueA, valueB);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
