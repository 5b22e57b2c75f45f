import assert from 'node:assert/strict';
import type { HttpClient } from '../harness/index.js';

/** More rows than one buffer block, so that the rows are moved to DuckDB in the background. */
const ROW_COUNT = 20_000;
const START_SEC = 1_735_549_200;

/** Writes one large request per round. Either all or none of its rows are stored, and all once it was acknowledged. */
export class BulkWriter {
  readonly #acknowledged = new Set<number>();
  #inFlight: number | undefined;
  #requestCount = 0;

  async writeUntilGone(http: HttpClient): Promise<void> {
    const request = this.#requestCount++;
    const lines = Array.from(
      { length: ROW_COUNT },
      (_, row) =>
        `bulk,lane=l${row % 8} n=${request}i,v=${row} ${START_SEC + request * ROW_COUNT + row}`,
    );
    this.#inFlight = request;
    let response: Awaited<ReturnType<HttpClient['send']>>;
    try {
      response = await http.send('/api/v3/write_lp?db=crash&precision=s', {
        body: lines.join('\n'),
      });
    } catch {
      return;
    }
    this.#inFlight = undefined;
    if (response.status === 503) return; // completely refused: the buffer is full, or the server stops
    assert.equal(response.status, 204, response.text);
    this.#acknowledged.add(request);
  }

  /** @param counts number of rows found for each request. */
  settle(counts: ReadonlyMap<number, number>): void {
    if (this.#inFlight !== undefined && counts.has(this.#inFlight)) {
      this.#acknowledged.add(this.#inFlight);
    }
    this.#inFlight = undefined;
    const expected = [...this.#acknowledged].map((request) => [request, ROW_COUNT]);
    assert.deepEqual(
      [...counts].sort(([a], [b]) => a - b),
      expected,
      'rows by large request',
    );
  }
}
