import assert from 'node:assert/strict';
import type { HttpClient } from '../harness/index.js';

const ROW_COUNT = 20;

/**
 * Writes with `no_sync`: the response promises nothing, but the log keeps the order. The surviving requests are therefore
 * a prefix of those sent, each of them complete.
 */
export class UnsyncedWriter {
  #requestCount = 0;

  async writeUntilGone(http: HttpClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const request = this.#requestCount;
      const lines = Array.from(
        { length: ROW_COUNT },
        (_, row) => `loose n=${request}i ${request * ROW_COUNT + row}`,
      );
      try {
        const body = lines.join('\n');
        const response = await http.send('/api/v3/write_lp?db=crash&precision=s&no_sync=true', {
          body,
        });
        // Accepted or refused; after a refusal the same rows are sent again.
        if (response.status === 204) this.#requestCount += 1;
        else assert.equal(response.status, 503, response.text);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        this.#requestCount += 1;
        return;
      }
    }
  }

  /** Continues after the last surviving request. @param counts number of rows found for each request. */
  settle(counts: ReadonlyMap<number, number>): void {
    const survivors = counts.size;
    assert.ok(survivors <= this.#requestCount, `${survivors} requests survived`);
    for (let request = 0; request < survivors; request++) {
      assert.equal(counts.get(request), ROW_COUNT, `rows of unsynced request ${request}`);
    }
    this.#requestCount = survivors;
  }
}
