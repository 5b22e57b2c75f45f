// Source: query-languages, sections 5.6 and 9.7: strings with any content are returned as users wrote them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SharedServer } from '../../harness/index.js';

/** Earlier placeholder inside the server for the rows of a statement's first table. */
const MARK = '\u{0}0\u{0}';

describe('NUL characters in texts of a statement', () => {
  let server: SharedServer;
  before(async () => {
    server = await SharedServer.get();
    await server.http.send('/api/v3/write_lp?db=nul&precision=s', { body: 'm,host=a v=1,s="x" 1' });
  });
  after(() => server.close());

  const ask = async (language: 'sql' | 'influxql', q: string) => {
    const body = JSON.stringify({ db: 'nul', q, format: 'csv' });
    const { status, text } = await server.http.send(`/api/v3/query_${language}`, { body });
    return { status, text };
  };

  it('are no other text of the statement', async () => {
    for (const [expression, value] of [
      [`regexp_replace(s, '${MARK}', 'y')`, 'x'],
      [`regexp_replace(s, 'x', 'y${MARK}') = 'y' || chr(0) || '0' || chr(0)`, 'true'],
      [`regexp_like(s, '${MARK}')`, 'false'],
      [`concat_ws('${MARK}', s)`, 'x'],
      [`length('${MARK}')`, '3'],
    ]) {
      const q = `SELECT ${expression} AS x FROM m WHERE host = 'a'`;
      assert.deepEqual(await ask('sql', q), { status: 200, text: `x\n${value}\n` }, q);
    }
  });

  it('are refused in names of fields of a struct', async () => {
    const { status, text } = await ask(
      'sql',
      `SELECT CAST(named_struct('${MARK}', 1) AS VARCHAR) FROM m`,
    );
    assert.equal(status, 400);
    assert.match(text, /a field name contains a NUL character/);
  });

  it('find nothing in InfluxQL where no text has them', async () => {
    for (const condition of [
      `s = '${MARK}'`,
      `s =~ /${MARK}/`,
      `host = '${MARK}'`,
      `host =~ /${MARK}/`,
    ]) {
      const q = `SELECT v FROM m WHERE ${condition}`;
      const { status, text } = await ask('influxql', q);
      assert.equal(status, 200, `${JSON.stringify(q)}: ${text}`);
      assert.doesNotMatch(text, /\bm\b.*1/);
    }
  });
});
