// Source: docs/adr/0074-bounded-statements.md; console, section 12 (canceling).
import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { rows, ServerInProcess } from '../../harness/index.js';

const LIMIT_MS = 3000;
let server: ServerInProcess;

before(async () => {
  server = await ServerInProcess.start({
    flags: ['--without-auth', `--tsdb-query-timeout-ms=${LIMIT_MS}`],
  });
  const text = 'x'.repeat(100);
  const lines = Array.from(
    { length: 50_000 },
    (_, i) => `m,host=h${i % 50} v=${i},s="${text}" ${i + 1}`,
  );
  for (let at = 0; at < lines.length; at += 10_000) {
    const body = lines.slice(at, at + 10_000).join('\n');
    assert.equal((await server.http.send('/write?db=c', { body })).status, 204);
  }
});
after(async () => await server.close());

/** Reads only the beginning of a response and keeps the connection open. */
async function ask(context: TestContext, path: string): Promise<IncomingMessage> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(new URL(path, server.url), (response) => resolve(response.pause())).on('error', reject);
  });
  answer.on('error', () => {}); // cut at the end
  context.after(() => answer.destroy());
  assert.equal(answer.statusCode, 200);
  return answer;
}

interface Listed {
  readonly id: string;
  readonly query_text: string;
  readonly running: boolean;
  readonly success: boolean;
}

async function find(mark: string): Promise<Listed | undefined> {
  const sql = `SELECT id, query_text, running, success FROM system.queries WHERE query_text LIKE '%${mark}%' AND query_text NOT LIKE '%system.queries%'`;
  return ((await rows(server, 'c', sql)) as Listed[])[0];
}

async function untilEnded(mark: string, timeoutMs: number): Promise<Listed> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const found = await find(mark);
    if (found?.running === false) return found;
    assert.ok(Date.now() < endMs, `${mark} still runs`);
    await sleep(100);
  }
}

const WIDE = 'SELECT a.*, b.v AS w FROM m a CROSS JOIN (SELECT v FROM m LIMIT 400) b';
const sql = (mark: string, format: string): string =>
  `/api/v3/query_sql?db=c&format=${format}&q=${encodeURIComponent(`${WIDE} WHERE 'MARK' <> '${mark}'`.replace('MARK', ''))}`;
const influxql = (mark: string): string =>
  `/query?db=c&chunked=true&q=${encodeURIComponent(`SELECT s AS ${mark}, s AS b, s AS c, s AS d FROM m`)}`;

describe('A query whose client stands still without leaving', () => {
  for (const [mark, path] of [
    ['of_lines', sql('of_lines', 'jsonl')],
    ['of_arrow', sql('of_arrow', 'arrow')],
    ['of_influxql', influxql('of_influxql')],
  ] as const) {
    it(`ends when its time is over (${mark})`, async (context) => {
      const response = await ask(context, path);
      assert.equal((await find(mark))?.running, true);
      const ended = await untilEnded(mark, LIMIT_MS + 10_000);
      assert.equal(ended.success, false);
      // The rest of the stream does not look like a complete response.
      let end = '';
      response.on('data', (bytes: Buffer) => {
        end = (end + bytes.toString('latin1')).slice(-200);
      });
      response.resume();
      await new Promise((resolve) => response.once('close', resolve));
      assert.ok(!response.complete || /"error":"[^"]*time/.test(end), end);
    });
  }

  it('ends when it is canceled', async (context) => {
    const mark = 'cancelled_one';
    await ask(context, sql(mark, 'csv'));
    const found = await find(mark);
    assert.equal(found?.running, true);
    const response = await server.http.send(`/ops/v1/tsdb/queries/${found.id}`, {
      method: 'DELETE',
    });
    assert.ok(response.status < 300, response.text);
    await untilEnded(mark, 1500); // before its time limit
  });
});
