// Source: query-languages, "Guards" (memory): only the statement that exceeds the memory fails.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, type HttpResponse, ServerInProcess, write } from '../../harness/index.js';

const SMALL_COUNT = 240;
const LARGE_COUNT = 3;
/** Collects twenty million values into one list. */
const LARGE =
  'SELECT array_length(array_agg(a.v)) FROM m a, m b, (SELECT 1 AS i FROM m LIMIT 20) c';

/** A join that does not fit into memory together with the large queries. */
const SMALL =
  'SELECT count(*), avg(x) FROM (SELECT a.s AS k, count(b.v) AS x FROM m a JOIN m b ON a.h = b.h GROUP BY a.s)';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: ['--without-auth', '--tsdb-query-memory-bytes', String(48 * 1024 * 1024)],
  });
  const lines = Array.from(
    { length: 1000 },
    (_, i) => `m,h=h${i % 9} v=${i},s="text ${i}" ${i + 1}`,
  );
  assertEmpty(await write(server, { db: 'd' }, lines.join('\n')));
});
after(async () => await server.close());

const ask = (q: string): Promise<HttpResponse> =>
  server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'csv' })}`);

it('small statements run again beside large ones that exhaust the memory', async () => {
  let isOver = false;
  const large = Array.from({ length: LARGE_COUNT }, async () => {
    const responses: HttpResponse[] = [];
    while (!isOver) responses.push(await ask(LARGE));
    return responses;
  });
  await sleep(300);
  const small: HttpResponse[] = [];
  for (let i = 0; i < SMALL_COUNT; i++) small.push(await ask(SMALL));
  isOver = true;
  const responses = [...small, ...(await Promise.all(large)).flat()];
  for (const { status, text, headers } of responses.filter((each) => each.status !== 200)) {
    assert.equal(status, 503, text);
    assert.match(text, /Resources exhausted/);
    assert.equal(headers['retry-after'], '1');
  }
  // Without the automatic retry more than a third of them fail.
  const succeeded = small.filter(({ status }) => status === 200).length;
  assert.ok(succeeded >= 0.9 * SMALL_COUNT, `${succeeded} of ${SMALL_COUNT}`);
});
