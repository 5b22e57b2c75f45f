import type { ParsedBody } from '@plinth/tsdb-model/parsed-body.js';
import { type ParsedSeries, tagSetsOf } from '@plinth/tsdb-model/series/new-series.js';

/** The tag sets of all series that a parser has numbered in one epoch. */
export class ParsedTagSets {
  readonly #byNumber = new Map<string, ParsedSeries>();

  /** Must be called for every body of the parser. */
  add({ tables }: ParsedBody): void {
    for (const { parserTable, firstNewSeries, newSeries } of tables) {
      tagSetsOf(newSeries).forEach((tagSet, i) => {
        this.#byNumber.set(`${parserTable}/${firstNewSeries + i}`, tagSet);
      });
    }
  }

  of(parserTable: number, series: number | undefined): ParsedSeries | undefined {
    return this.#byNumber.get(`${parserTable}/${series}`);
  }
}
