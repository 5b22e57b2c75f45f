// Source: docs/ALERT-RUNBOOK.md, "PlinthStoreAway": the metrics page reports an unavailable store, so it has to respond meanwhile.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { layDatabaseCable, POSTGRES_URL, ServerInProcess } from '../../harness/index.js';

const skip = POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';
/** Default scrape timeout of Prometheus. */
const SCRAPE_TIMEOUT_MS = 10_000;
const PATIENCE_MS = 60_000;

for (const [how, away] of [
  ['is cut off', 'cut'],
  ['does not answer', 'hush'],
] as const) {
  it(`a database that ${how} is told on a page that comes in time`, { skip }, async (context) => {
    const { cable, databaseFlag } = await layDatabaseCable(context);
    const server = await ServerInProcess.start({
      flags: [databaseFlag, '--disable-authz', 'metrics'],
    });
    context.after(() => server.close());
    const until = async (isUp: number) => {
      for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(200)) {
        const startMs = Date.now();
        const { status, text } = await server.http.send('/metrics');
        assert.ok(Date.now() - startMs < SCRAPE_TIMEOUT_MS, `${Date.now() - startMs} ms`);
        assert.equal(status, 200, text);
        assert.match(text, /^plinth_store_up\{store="embedded"\} 1$/m);
        assert.match(text, /^process_resident_memory_bytes \d+$/m);
        const ready = new RegExp(`^plinth_ready ${isUp}$`, 'm');
        const store = new RegExp(`^plinth_store_up\\{store="postgresql"\\} ${isUp}$`, 'm');
        if (ready.test(text) && store.test(text)) return;
        assert.ok(Date.now() < endMs, text);
      }
    };
    await until(1);
    cable[away]();
    await until(0);
    await cable.join();
    await until(1);
  });
}
