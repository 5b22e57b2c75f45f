// An answer that fails on the way ended as if it were whole: 200, a proper end, and a part of the rows.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, ServerProcess } from '../../harness/index.js';

const ROW_COUNT = 300_000;
const BATCH_ROWS = 50_000;

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start();
  for (let from = 0; from < ROW_COUNT; from += BATCH_ROWS) {
    const lines = Array.from({ length: BATCH_ROWS }, (_, i) => {
      const n = from + i;
      return `m,host=h${n % 50} f=${n}i,s="${n === ROW_COUNT - 1000 ? 'no number' : n}" ${1_700_000_000 + n}`;
    });
    const body = lines.join('\n');
    assertEmpty(await server.http.send('/api/v3/write_lp?db=d&precision=second', { body }));
  }
});
after(async () => await server.close());

const joined = (value: string): string =>
  `SELECT ${value} AS v FROM m a JOIN m b ON a.time = b.time`;

async function answer(q: string, format: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/api/v3/query_sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ db: 'd', q, format }),
  });
  return { status: response.status, text: await response.text() };
}

describe('an answer with a value that cannot be computed', () => {
  for (const format of ['jsonl', 'json', 'csv', 'arrow', 'parquet']) {
    it(`is no whole answer in ${format}`, async () => {
      let isCut = false;
      const failed = await answer(joined('CAST(a.s AS BIGINT)'), format).catch((error: unknown) => {
        isCut = true;
        assert.match(String((error as Error).cause ?? error), /closed|terminated|reset/);
        return undefined;
      });
      if (!isCut) assert.equal(failed?.status, 500);
    });
  }

  it('is whole without it', async () => {
    const { status, text } = await answer(joined('a.f'), 'jsonl');
    assert.equal(status, 200);
    assert.equal(text.split('\n').length - 1, ROW_COUNT);
  });
});
