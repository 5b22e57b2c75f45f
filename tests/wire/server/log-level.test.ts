// Source: docs/LOGGING.md, "Log requests" and "Change the log level"; docs/spec/tsdb-http.md, `slow_query_ms`.
// Own process: one gets signals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnServer, ServerInProcess, ServerProcess } from '../../harness/index.js';

const PATH = '/ops/v1/log-level';
const isLoggingRequests = async (server: OwnServer, mark: string): Promise<boolean> => {
  await server.http.send(`/ping?${mark}`);
  await sleep(50);
  return server.logText.includes(mark);
};

async function put(server: OwnServer, body: unknown, token?: string): Promise<number> {
  const response = await server.http.send(PATH, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return response.status;
}

describe('the log level of a running server', () => {
  it('can be changed by an administrator for all parts until the next start', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    assert.equal(await put(server, { level: 'debug' }), 401);
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const token = String(JSON.parse(made.text).token);
    assert.equal(await isLoggingRequests(server, 'mark1'), false);
    for (const wrong of [{ level: 'loud' }, { level: 1 }, {}, { level: 'debug', more: 1 }]) {
      const status = await put(server, wrong, token);
      assert.ok(status >= 400 && status < 500, `${JSON.stringify(wrong)}: ${status}`);
    }
    assert.equal(
      await isLoggingRequests(server, 'mark2'),
      false,
      'what is refused changes nothing',
    );
    assert.equal(await put(server, { level: 'debug' }, token), 200);
    assert.equal(await isLoggingRequests(server, 'mark3'), true);
    const headers = { authorization: `Bearer ${token}` };
    const shown = JSON.parse((await server.http.send(PATH, { headers })).text);
    assert.deepEqual(shown, { level: 'debug', configured: 'info' });
    assert.equal(await put(server, { level: 'error' }, token), 200);
    assert.equal(await isLoggingRequests(server, 'mark4'), false);
    await server.http.send('/ping', { headers: { authorization: 'Bearer wrong' } });
    assert.doesNotMatch(server.logText, /login failed/);
  });

  it('is toggled to debug by SIGUSR1', { skip: process.platform === 'win32' }, async () => {
    await using server = await ServerProcess.start();
    assert.equal(await isLoggingRequests(server, 'mark1'), false);
    server.signal('SIGUSR1');
    await sleep(100);
    assert.equal(await isLoggingRequests(server, 'mark2'), true);
    server.signal('SIGUSR1');
    await sleep(100);
    assert.equal(await isLoggingRequests(server, 'mark3'), false);
    assert.doesNotMatch(server.logText, /Debugger listening/);
  });
});

describe('slow queries', () => {
  const ask = (server: OwnServer, q: string) =>
    server.http.send(`/api/v3/query_sql?db=d&q=${encodeURIComponent(q)}&format=csv`);
  const slow = (server: OwnServer) =>
    server.logText
      .split('\n')
      .filter((line) => line.includes('"slow query"'))
      .map((line) => JSON.parse(line));
  const SLOW = 'SELECT count(*) AS slow_one FROM generate_series(1, 30000000)';

  it('are logged with text and durations from the threshold on', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--slow-query', '1ms'],
    });
    await server.http.send('/api/v3/write_lp?db=d', { body: 'm v=1 1' });
    assert.equal((await ask(server, SLOW)).status, 200);
    await sleep(100);
    const lines = slow(server).filter(({ text }) => text === SLOW);
    assert.equal(lines.length, 1, server.logText);
    const { level, language, outcome, durationMs } = lines[0];
    assert.deepEqual([level, language, outcome], ['warn', 'sql', 'success']);
    assert.ok(durationMs >= 1);
  });

  it('are logged with rows, reserved memory and a digest in each language, but no password', async () => {
    await using server = await ServerInProcess.start({
      flags: ['--without-auth', '--slow-query', '1ms'],
    });
    const lines = Array.from(
      { length: 30_000 },
      (_, i) => `m,h=a${i % 500} v=${(i * 7919) % 30_000},w="x" ${i + 1}`,
    );
    await server.http.send('/api/v3/write_lp?db=d', { body: lines.join('\n') });
    const sql = (n: number) =>
      `SELECT a.v FROM m a JOIN m b ON a.time = b.time WHERE a.v < ${n} ORDER BY a.w, a.v`;
    const influxql = (n: number) => `SELECT stddev(v) + ${n} FROM m WHERE h =~ /^a1.$/ GROUP BY h`;
    const v1 = (q: string) => server.http.send(`/query?db=d&q=${encodeURIComponent(q)}`);
    for (const n of [50, 60]) assert.equal((await ask(server, sql(n))).status, 200);
    for (const n of [1, 2]) assert.equal((await v1(influxql(n))).status, 200);
    const sorted = 'SELECT v, time FROM m ORDER BY abs(v - 5)';
    assert.equal((await ask(server, sorted)).status, 200);
    const parquet = `SELECT v FROM m ORDER BY v LIMIT 20000`;
    const file = await server.http.send(
      `/api/v3/query_sql?db=d&q=${encodeURIComponent(parquet)}&format=parquet`,
    );
    assert.equal(file.status, 200);
    await sleep(100);
    const found = (text: string) => slow(server).find((line) => line.text === text);
    const [first, second] = [found(sql(50)), found(sql(60))];
    assert.deepEqual([first.rowCount, second.rowCount], [50, 60]);
    assert.match(first.digest, /^[0-9a-f]{16}$/);
    assert.equal(first.digest, second.digest);
    // 30,000 rows with a float and a timestamp.
    assert.ok(
      found(sorted).peakReservedBytes >= 30_000 * 16,
      String(found(sorted).peakReservedBytes),
    );
    assert.equal(found(parquet).rowCount, 20_000);
    const series = found(influxql(1));
    assert.equal(series.rowCount, 10, 'one for each of a10 to a19');
    assert.equal(series.digest, found(influxql(2)).digest);
    assert.notEqual(series.digest, first.digest);
    await v1(`CREATE USER u WITH PASSWORD 'p4ssw0rd-1'`);
    await sleep(50);
    assert.doesNotMatch(server.logText, /p4ssw0rd-1/);
  });

  it('are not logged without a threshold, or below it', async () => {
    for (const flags of [[], ['--slow-query', '1h']]) {
      await using server = await ServerInProcess.start({ flags: ['--without-auth', ...flags] });
      await server.http.send('/api/v3/write_lp?db=d', { body: 'm v=1 1' });
      await ask(server, SLOW);
      await sleep(50);
      assert.deepEqual(slow(server), []);
    }
  });
});
