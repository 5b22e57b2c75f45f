// Source: tsdb-http, "Database names", "Deletion life cycle", "SHOW on v1"; lists as InfluxDB 1.x gives them: of all retention policies.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start();
});
after(async () => await server.close());

async function write(db: string, rp: string, line: string): Promise<void> {
  const answer = await server.http.send(`/write?${new URLSearchParams({ db, rp })}`, {
    body: line,
  });
  assert.equal(answer.status, 204, answer.text);
}

type Series = { readonly name?: string; readonly values: readonly (readonly unknown[])[] };

/** The series of the first statement, or its failure. */
async function ask(db: string, q: string): Promise<readonly Series[] | string> {
  const { text } = await server.http.send(`/query?${new URLSearchParams({ db, q, epoch: 'ns' })}`);
  const [result] = (JSON.parse(text) as { results: { series?: Series[]; error?: string }[] })
    .results;
  return result?.error ?? result?.series ?? [];
}

/** Name and rows of each series. */
async function lists(db: string, q: string): Promise<readonly unknown[]> {
  const found = await ask(db, q);
  assert.ok(typeof found !== 'string', String(found));
  return found.map(({ name, values }) => [name, values.map((row) => row.slice(0, 2))]);
}

const DATABASE = '/api/v3/configure/database';
const remove = (db: string) => server.http.send(`${DATABASE}?db=${db}`, { method: 'DELETE' });

describe('A database and its retention policies', () => {
  it('come into being together when the first row names a policy', async () => {
    await write('fresh', 'weekly', 'cpu,host=a v=1 1');
    const [databases] = (await ask('', 'SHOW DATABASES')) as readonly Series[];
    assert.ok(databases?.values.some(([name]) => name === 'fresh'));
    assert.deepEqual(await lists('fresh', 'SHOW RETENTION POLICIES'), [
      [
        'retention_policies',
        [
          ['autogen', '0s'],
          ['weekly', '0s'],
        ],
      ],
    ]);
    assert.deepEqual(await lists('fresh', 'SHOW MEASUREMENTS'), [['measurements', [['cpu']]]]);
    assert.deepEqual(await lists('fresh', 'SELECT v FROM weekly.cpu'), [['cpu', [[1, 1]]]]);
  });

  it('the default policy is the database itself: no other is made with its name', async () => {
    const json = { 'content-type': 'application/json' };
    const send = (path: string, body: string, headers = {}) =>
      server.http.send(path, { method: 'POST', body, headers });
    for (const name of ['plain/autogen', 'plain/default']) {
      for (const answer of [
        await send(`/api/v3/write_lp?db=${name}`, 'm v=1 1'),
        await send('/api/v3/configure/database', JSON.stringify({ db: name }), json),
        await send(
          '/api/v3/configure/table',
          JSON.stringify({ db: name, table: 'm', tags: ['t'] }),
          json,
        ),
      ]) {
        assert.equal(answer.status, 400, answer.text);
        assert.ok(answer.text.includes(`'${name}' is database 'plain' itself`), answer.text);
      }
    }
    assert.match(String(await ask('plain', 'SHOW MEASUREMENTS')), /database not found/);
    assert.equal((await send('/write?db=plain&rp=autogen', 'm v=1 1')).status, 204);
    assert.equal((await send('/api/v2/write?bucket=plain/autogen', 'm v=2 2')).status, 204);
    assert.deepEqual(await lists('plain', 'SHOW RETENTION POLICIES'), [
      ['retention_policies', [['autogen', '0s']]],
    ]);
    assert.deepEqual(await lists('plain', 'SELECT v FROM autogen.m'), [
      [
        'm',
        [
          [1, 1],
          [2, 2],
        ],
      ],
    ]);
  });

  it('go together, and come back together', async () => {
    await write('going', 'w', 'm v=7 1');
    assert.equal((await remove('going')).status, 200);
    assert.match(String(await ask('going', 'SELECT v FROM going.w.m')), /database not found/);
    const listed = await server.http.send(`${DATABASE}?format=json&show_deleted=true`);
    const names = (JSON.parse(listed.text) as Record<string, unknown>[])
      .filter(({ deleted }) => deleted === true)
      .map((row) => String(row['iox::database']).replace(/-\d{8}T\d{6}$/, ''));
    assert.deepEqual(names.filter((name) => name.startsWith('going')).sort(), ['going', 'going/w']);
    const undeleted = await server.http.send(`${DATABASE}/undelete`, {
      body: JSON.stringify({ db: 'going' }),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(undeleted.status, 200, undeleted.text);
    assert.deepEqual(await lists('going', 'SELECT v FROM w.m'), [['m', [[1, 7]]]]);
  });

  it('are listed as one, whichever policy is the default one', async () => {
    await write('mixed', 'autogen', 'old,host=a,dc=x v=1 1');
    await ask('', 'CREATE RETENTION POLICY "short" ON "mixed" DURATION 1h REPLICATION 1');
    await ask('', 'CREATE RETENTION POLICY "week" ON "mixed" DURATION 0s REPLICATION 1 DEFAULT');
    await write('mixed', '', 'new,host=b v=1,w=2i 2');
    await write('mixed', '', 'old,host=a,rack=r v=1,s="t" 3');
    await write('mixed', '', 'old,host=c,dc=y v=1 3');
    assert.deepEqual(await lists('mixed', 'SHOW MEASUREMENTS'), [
      ['measurements', [['new'], ['old']]],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW TAG KEYS'), [
      ['new', [['host']]],
      ['old', [['dc'], ['host'], ['rack']]],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW FIELD KEYS FROM old'), [
      [
        'old',
        [
          ['s', 'string'],
          ['v', 'float'],
        ],
      ],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW TAG VALUES WITH KEY = host'), [
      ['new', [['host', 'b']]],
      [
        'old',
        [
          ['host', 'a'],
          ['host', 'c'],
        ],
      ],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW SERIES FROM old'), [
      [undefined, [['old,dc=x,host=a'], ['old,dc=y,host=c'], ['old,host=a,rack=r']]],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW SERIES CARDINALITY'), [[undefined, [[4]]]]);
    assert.deepEqual(await lists('mixed', 'SHOW MEASUREMENTS LIMIT 1 OFFSET 1'), [
      ['measurements', [['old']]],
    ]);
    assert.deepEqual(await lists('mixed', 'SHOW TAG VALUES FROM autogen.old WITH KEY = host'), [
      ['old', [['host', 'a']]],
    ]);
    assert.deepEqual(await lists('mixed', "SHOW MEASUREMENTS WHERE dc = 'y'"), [
      ['measurements', [['old']]],
    ]);
  });
});
