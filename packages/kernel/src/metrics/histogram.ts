import type { MetricSample } from './metric.js';

/** Counts values in buckets, with one addition per value. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** Not cumulative, with an additional count for values above the last bound. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds inclusive upper bounds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? 0)) index += 1;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  /** Returns the samples; empty before the first value. */
  samples(
    name: string,
    labels: Readonly<Record<string, string | number>> = {},
  ): readonly MetricSample[] {
    let total = 0;
    const buckets = this.#counts.map((count, index) => {
      total += count;
      const le = this.#bounds[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
    });
    if (total === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}
