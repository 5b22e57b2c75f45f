// Source: docs/ARCHITECTURE.md, "Threads": the main thread runs no long task. The test asserts behavior and reports the
// measured lag. Own process: its event loop is measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../harness/index.js';

const BATCH_COUNT = 8;
const ROW_COUNT = 50_000;

const batch = (number: number): string =>
  Array.from({ length: ROW_COUNT }, (_, row) => {
    const n = number * ROW_COUNT + row;
    return `cpu,host=h${n % 100} usage=${n % 97}.5,n=${n}i ${1_735_549_200 + n}`;
  }).join('\n');

describe('While large batches are written and all of a table is read', () => {
  it('/health continues to respond', async (t) => {
    const server = await ServerProcess.start();
    try {
      await server.http.send('/metrics'); // The lag is that since the last reading.
      let isOver = false;
      let healthCount = 0;
      const probe = (async () => {
        while (!isOver) {
          assert.equal((await server.http.send('/health')).status, 200);
          healthCount += 1;
          await sleep(10);
        }
      })();
      const wideQuery = async (): Promise<void> => {
        const q = 'SELECT * FROM cpu';
        const response = await server.http.send(
          `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'jsonl' })}`,
        );
        assert.equal(response.status, 200, response.text.slice(0, 500));
      };
      for (let number = 0; number < BATCH_COUNT; number++) {
        const write = server.http.send('/api/v3/write_lp?db=d&precision=s', {
          body: batch(number),
        });
        await Promise.all([write, number > 0 ? wideQuery() : undefined]);
        assert.equal((await write).status, 204);
      }
      isOver = true;
      await probe;
      assert.ok(healthCount > 0);
      const { text } = await server.http.send('/metrics');
      const lag = /^nodejs_eventloop_lag_seconds\{quantile="0.99"\} (\S+)$/m.exec(text)?.[1];
      assert.ok(lag !== undefined, 'the lag is exported');
      t.diagnostic(`${healthCount} answers of /health; p99 of the event-loop lag: ${lag} s`);
    } finally {
      await server.close();
    }
  });
});
