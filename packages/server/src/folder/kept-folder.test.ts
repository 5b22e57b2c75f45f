import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@plinth/kernel/testing';
import { type RunningServer, readSettings, startServer } from '../start-server.js';

const start = (dataDir: string): Promise<RunningServer> =>
  startServer({
    settings: readSettings({
      env: {},
      flags: new Map([
        ['http-bind', '127.0.0.1:0'],
        ['data-dir', dataDir],
        ['without-auth', 'true'],
      ]),
    }),
    logDestination: { write() {} },
  });

/** Query work on 2,048 rows that DuckDB cannot interrupt and that takes longer than a close waits. */
const UNINTERRUPTIBLE =
  "SELECT max(levenshtein(s, reverse(s)) + levenshtein(s, 'x' || reverse(s))) AS n FROM long";

const BEGUN_MICROS = 300_000;

it('keeps its folder locked while uninterruptible statements run', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = await temporaryFolder();
  const server = await start(dataDir);
  t.after(() => server.close());
  const ask = async (q: string): Promise<string> => {
    const query = new URLSearchParams({ db: 'd', q, format: 'json' });
    return await (await fetch(`${server.address.url}/api/v3/query_sql?${query}`)).text();
  };
  const body = Array.from({ length: 2048 }, (_, i) => `long s="${`${i}`.padStart(1000)}" ${i + 1}`);
  const written = await fetch(`${server.address.url}/api/v3/write_lp?db=d&precision=ns`, {
    method: 'POST',
    body: body.join('\n'),
  });
  assert.equal(written.status, 204);
  const running = ask(UNINTERRUPTIBLE).catch(() => undefined);
  const isRunning = `SELECT count(*) AS n FROM system.queries WHERE running AND query_text LIKE '%levenshtein(s%' AND query_text NOT LIKE '%running%'`;
  for (let i = 0, said = ''; !said.includes('[[1]]'); i++) {
    assert.ok(i < 100, said);
    await sleep(20);
    said = await ask(isRunning);
  }
  // DuckDB's progress is not observable: CPU time used by the process shows that it has started with the rows.
  const before = process.cpuUsage();
  for (let i = 0; i < 200 && process.cpuUsage(before).user < BEGUN_MICROS; i++) await sleep(50);
  await server.close(AbortSignal.abort());
  await assert.rejects(async () => await (await start(dataDir)).close(), { kind: 'folder_in_use' });
  await running;
});
