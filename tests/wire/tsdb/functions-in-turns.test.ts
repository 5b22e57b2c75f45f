// Source: docs/ARCHITECTURE.md, "Threads"; query-languages, "Guards"; tsdb-http, "v1 query endpoint".
// Own process: its main thread is measured.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpResponse, ServerProcess } from '../../harness/index.js';

const HOST_COUNT = 100;
const ROWS_A_HOST = 1000;
const SERIES_COUNT = 100_000;
/** Other responses per second while a statement runs. With a blocked main thread there are one or two in total. */
const MIN_RESPONSES_A_SECOND = 8;

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({ flags: ['--without-auth'] });
  const rows = Array.from({ length: ROWS_A_HOST }, (_, i) => i);
  for (let host = 0; host < HOST_COUNT; host++) {
    const lines = rows.map(
      (i) => `m,host=h${host} v=${(i * 7919) % 1009} ${i * HOST_COUNT + host}`,
    );
    await write(lines);
  }
  for (let from = 0; from < SERIES_COUNT; from += 20_000)
    await write(
      rows.flatMap((i) => times(20).map((k) => `hc,u=u${from + i * 20 + k} v=${k} ${i}`)),
    );
});
after(() => server.close());

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

function* rowsOfM(): Generator<readonly string[]> {
  for (let host = 0; host < HOST_COUNT; host++)
    yield times(ROWS_A_HOST).map(
      (i) => `m,host=h${host} v=${(i * 7919) % 1009} ${i * HOST_COUNT + host}`,
    );
}

async function write(lines: readonly string[], to = server): Promise<void> {
  const response = await to.http.send('/api/v3/write_lp?db=d', { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
}

const ask = (q: string, to = server): Promise<HttpResponse> =>
  to.http.send('/query', {
    body: new URLSearchParams({ db: 'd', q }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

/** Returns the statement's result, if complete, and the number of other responses while it ran. */
async function askBesideOthers(q: string) {
  const startMs = performance.now();
  let isOver = false;
  const asked = ask(q)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  let responseCount = 0;
  while (!isOver) {
    assert.equal((await server.http.send('/ping')).status, 200);
    if (!isOver) responseCount++;
  }
  return { response: await asked, responseCount, seconds: (performance.now() - startMs) / 1000 };
}

const list = (count: number, call: (i: number) => string): string =>
  times(count)
    .map((i) => `${call(i)} AS c${i}`)
    .join(', ');

const WINDOWS = `SELECT ${list(180, (i) => `moving_average(v, ${i + 2})`)} FROM m LIMIT 1`;

describe('others are answered while a statement of InfluxQL runs that asks for', () => {
  const statements: Readonly<Record<string, string>> = {
    'a long period': 'SELECT chande_momentum_oscillator(v, 50000) FROM m LIMIT 1',
    'a thousand functions of rows': `SELECT ${list(1000, () => 'cumulative_sum(v)')} FROM m LIMIT 1`,
    'hundreds of windows': WINDOWS,
    'a hundred ranks': `SELECT ${list(100, (i) => `percentile(v, ${i + 1})`)} FROM m`,
    'a row of each of many series': 'SELECT mean(v) FROM hc GROUP BY u LIMIT 1',
    'more buckets of many series than it may':
      'SELECT mean(v) FROM hc GROUP BY u, time(1h) fill(0)',
    'functions of the rows of many series': 'SELECT cumulative_sum(v) FROM hc GROUP BY u',
    'arithmetic over many series': 'SELECT v + 1 FROM hc GROUP BY u',
    'a thousand columns': `SELECT ${list(1000, (i) => `v + ${i}`)} FROM m LIMIT 20000`,
    'the best of many series': 'SELECT top(v, u, 10) FROM hc',
  };
  for (const [what, q] of Object.entries(statements)) {
    it(what, async () => {
      const { response, responseCount, seconds } = await askBesideOthers(q);
      assert.ok(response === undefined || response.status === 200, response?.text);
      assert.ok(
        responseCount >= MIN_RESPONSES_A_SECOND * (seconds - 1),
        `${responseCount} others in ${seconds} s`,
      );
    });
  }
});

describe('a statement of InfluxQL over many rows of one series', () => {
  it('is refused when it makes more values than may be held', async () => {
    const { text } = await ask(
      `SELECT ${list(201, (i) => `moving_average(v, ${i + 2})`)} FROM m LIMIT 1`,
    );
    const limit = 'query buffers more than 20000000 values in memory';
    assert.ok(text.includes(limit), text.slice(0, 500));
  });

  it('is refused for a pattern that takes too long on a text, and not for one that does not', async () => {
    await write([`texts s="${'a'.repeat(3000)}" 1`]);
    // A thousand states of a? can be active at the same time as the others: 60 ms on this text.
    const { text } = await ask('SELECT s FROM texts WHERE s =~ /(a?){1000}a{1000}b/');
    assert.match(text, /accepts strings of at most \d+ bytes/);
    assert.match((await ask('SELECT s FROM texts WHERE s =~ /a{10}$/')).text, /"values"/);
  });

  it('ends at its deadline', async () => {
    const limited = await ServerProcess.start({
      flags: ['--without-auth', '--tsdb-query-timeout-ms', '300'],
    });
    try {
      for (const lines of rowsOfM()) await write(lines, limited);
      const beganMs = performance.now();
      const { text } = await ask(WINDOWS, limited);
      const limitedMs = performance.now() - beganMs;
      assert.match(text, /query-timeout limit exceeded: 300 ms/);
      const freeMs = performance.now();
      assert.match((await ask(WINDOWS)).text, /"series"/);
      const whole = performance.now() - freeMs;
      assert.ok(limitedMs < 0.6 * whole + 300, `${limitedMs} of ${whole} ms`);
    } finally {
      await limited.close();
    }
  });
});
