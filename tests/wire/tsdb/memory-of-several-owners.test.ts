// Source: query-languages, "Guards" (memory): one statement without memory fails alone.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, type HttpAnswer, ServerProcess, write } from '../../harness/index.js';

const TRIVIAL_COUNT = 240;
/** Needs far more than the server has, and sorts so that the small ones meet it. */
const GREEDY =
  'SELECT count(*) FROM (SELECT array_agg(a.v || b.s) AS l FROM m a, m b, m c GROUP BY a.v)';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--without-auth', '--tsdb-query-memory-bytes', String(48 * 1024 * 1024)],
  });
  const lines = Array.from(
    { length: 1000 },
    (_, i) => `m,h=h${i % 9} v=${i},s="text ${i}" ${i + 1}`,
  );
  assertEmpty(await write(server, { db: 'd' }, lines.join('\n')));
});
after(async () => await server.close());

const ask = (q: string): Promise<HttpAnswer> =>
  server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'csv' })}`);

it('small statements succeed beside one that exhausts the memory, which is told to come again', async () => {
  let isOver = false;
  const greedy = (async () => {
    const answers: HttpAnswer[] = [];
    while (!isOver) answers.push(await ask(GREEDY));
    return answers;
  })();
  await sleep(200);
  for (let i = 0; i < TRIVIAL_COUNT; i++) {
    // Not a form that columns in memory answer.
    const { status, text } = await ask(
      `SELECT sum(v * ${i}) AS n FROM (SELECT v FROM m ORDER BY s LIMIT 500)`,
    );
    assert.equal(status, 200, `${i}: ${text}`);
  }
  isOver = true;
  const answers = await greedy;
  assert.ok(answers.length > 0);
  for (const { status, text, headers } of answers) {
    assert.equal(status, 503, text);
    assert.match(text, /Resources exhausted/);
    assert.equal(headers['retry-after'], '1');
  }
});
