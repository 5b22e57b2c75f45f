// Source: query-languages, "Guards" (a time limit by configuration), tsdb-http, section 9.3 (failures are reported
// per statement); docs/ARCHITECTURE.md, "Threads".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

const ROWS = 200_000;
let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: ['--without-auth', '--tsdb-query-timeout-ms', '1500'],
  });
  const lines = Array.from({ length: ROWS }, (_, i) => `m v=${(i * 7919) % 100_003} ${i}`);
  const response = await server.http.send('/write?db=long&precision=s', { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
});
after(async () => await server.close());

const influxql = (q: string) =>
  server.http.send(`/query?${new URLSearchParams({ db: 'long', q })}`);
const ENDED = 'query-timeout limit exceeded: 1500 ms';

describe('a query that takes long', () => {
  it('ends when its time is over, in SQL', async () => {
    const q = 'SELECT count(*) FROM m a, m b, m c WHERE a.v > b.v + c.v';
    const response = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: 'long', q })}`,
    );
    assert.equal(response.status, 500);
    assert.deepEqual(JSON.parse(response.text), { error: ENDED, data: {} });
  });

  it('gives its place back: others are answered', async () => {
    for (let i = 0; i < 3; i++) {
      const { text } = await influxql('SELECT count(v) FROM m');
      assert.match(text, new RegExp(`\\[\\["1970-01-01T00:00:00Z",${ROWS}\\]\\]`));
    }
  });

  it('lets others have their turn while it sorts', async () => {
    let isDone = false;
    const slow = influxql('SELECT mode(v), percentile(v, 90) FROM m').then(({ text }) => {
      isDone = true;
      return text;
    });
    let answeredCount = 0;
    while (!isDone) {
      assert.equal((await server.http.send('/ping')).status, 200);
      answeredCount++;
    }
    await slow;
    // If the work blocked the main thread, only requests before and after it would receive a response.
    assert.ok(answeredCount >= 4, `${answeredCount} requests were answered meanwhile`);
  });
});
