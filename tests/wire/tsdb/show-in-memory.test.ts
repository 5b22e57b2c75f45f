// Source: query-languages, "Guards" (values held in memory) and "SHOW statements: results".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

const LIMIT = 10_000;
const REFUSAL = new RegExp(`"error":"[^"]*query buffers more than ${LIMIT} values in memory`);

describe('SHOW over more than may be held in memory', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start({
      flags: ['--without-auth', '--tsdb-max-held-values', String(LIMIT)],
    });
    for (const measurement of ['a', 'b'])
      await write('many', 6000, (i) => `${measurement},host=h${i} v=1 ${i + 1}`);
    await write('many', 10_001, (i) => `c,rack=r${i} v=1 ${i + 1}`);
    // About 60,000 characters per key, most of them in tag values shared by the series.
    const shared = Array.from({ length: 6 }, (_, i) => `,t${i}=${'x'.repeat(10_000)}`).join('');
    await write('long', 60, (i) => `m${shared},z=${i} v=1 1`);
  });
  after(() => server.close());

  async function write(db: string, count: number, line: (i: number) => string): Promise<void> {
    const body = Array.from({ length: count }, (_, i) => line(i)).join('\n');
    const { status, text } = await server.http.send(`/api/v3/write_lp?db=${db}`, { body });
    assert.equal(status, 204, text);
  }

  const show = async (db: string, q: string): Promise<string> =>
    (await server.http.send(`/query?${new URLSearchParams({ db, q })}`)).text;

  it('refuses the values of one tag', async () => {
    assert.match(await show('many', 'SHOW TAG VALUES FROM c WITH KEY = rack'), REFUSAL);
    assert.match(
      await show('many', 'SHOW TAG VALUES FROM c WITH KEY = rack LIMIT 1'),
      /\["rack","r0"\]/,
    );
  });

  it('holds the values of one measurement at a time', async () => {
    const text = await show('many', 'SHOW TAG VALUES FROM a, b WITH KEY = host');
    assert.equal(text.match(/"host"/g)?.length, 12_000);
  });

  it('counts the characters of series keys', async () => {
    assert.match(await show('long', 'SHOW SERIES'), REFUSAL);
    assert.match(await show('long', 'SHOW SERIES LIMIT 5'), REFUSAL);
    assert.match(await show('long', 'SHOW SERIES LIMIT 1'), /,z=0"/);
    const few = await show('long', "SHOW SERIES WHERE z = '7'");
    assert.match(few, /,z=7"/);
  });
});
