// Source: tsdb-http, "Database names", "Deletion life cycle", "SHOW on v1"; lists cover all retention policies, as in InfluxDB 1.x.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

async function write(db: string, rp: string, line: string): Promise<void> {
  const response = await server.http.send(`/write?${new URLSearchParams({ db, rp })}`, {
    body: line,
  });
  assert.equal(response.status, 204, response.text);
}

type Series = { readonly name?: string; readonly values: readonly (readonly unknown[])[] };

/** Returns the series of the first statement, or its error. */
async function ask(db: string, q: string): Promise<readonly Series[] | string> {
  const { text } = await server.http.send(`/query?${new URLSearchParams({ db, q, epoch: 'ns' })}`);
  const [result] = (JSON.parse(text) as { results: { series?: Series[]; error?: string }[] })
    .results;
  return result?.error ?? result?.series ?? [];
}

/** Returns name and rows of each series. */
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
      for (const response of [
        await send(`/api/v3/write_lp?db=${name}`, 'm v=1 1'),
        await send('/api/v3/configure/database', JSON.stringify({ db: name }), json),
        await send(
          '/api/v3/configure/table',
          JSON.stringify({ db: name, table: 'm', tags: ['t'] }),
          json,
        ),
      ]) {
        assert.equal(response.status, 400, response.text);
        assert.ok(response.text.includes(`'${name}' is database 'plain' itself`), response.text);
      }
    }
    assert.match(String(await ask('plain', 'SHOW MEASUREMENTS')), /database not found/);
    assert.equal((await send('/write?db=plain&rp=autogen', 'm v=1 1')).status, 204);
    assert.equal((await send('/api/v2/write?bucket=plain/autogen', 'm v=2 2')).status, 204);
    // InfluxDB 1.8 documentation: without a policy after the slash, the default policy is used.
    assert.equal((await send('/api/v2/write?bucket=plain/', 'm v=3 3')).status, 204);
    assert.equal((await send('/api/v2/write?bucket=plain//', 'm v=4 4')).status, 400);
    assert.equal((await send('/api/v2/write?bucket=/', 'm v=4 4')).status, 400);
    const third =
      '{"start":"1970-01-01T00:00:00.000000003Z","stop":"1970-01-01T00:00:00.000000003Z"}';
    assert.equal((await send('/api/v2/delete?bucket=plain/', third, json)).status, 204);
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

describe('A retention policy that does not exist', () => {
  before(async () => {
    await write('known', '', 'm,h=a v=1 1');
    await ask('', 'CREATE RETENTION POLICY "Weekly" ON "known" DURATION 7d REPLICATION 1');
  });

  // Error messages of InfluxDB 1.6.7.
  for (const statement of [
    'SELECT * FROM "typo"."m"',
    'SELECT * FROM "known"."typo"."m"',
    'SELECT * FROM "typo"./.*/',
    'SELECT v FROM m, typo.m',
    'SELECT v FROM (SELECT v FROM typo.m)',
    'EXPLAIN SELECT v FROM typo.m',
    'SELECT * INTO "typo"."n" FROM m',
    'SELECT * INTO "known"."typo"."n" FROM m',
    'SHOW TAG KEYS FROM "typo"."m"',
    'SHOW FIELD KEYS FROM "typo"."m"',
    'SHOW TAG VALUES FROM typo.m WITH KEY = h',
    'SHOW SERIES FROM typo.m',
    'SHOW SERIES FROM m, typo.m',
    'SHOW SERIES EXACT CARDINALITY FROM typo.m',
    'SHOW MEASUREMENT EXACT CARDINALITY FROM typo.m',
    'ALTER RETENTION POLICY typo ON known DEFAULT',
  ]) {
    it(`is an error in ${statement}`, async () => {
      assert.equal(await ask('known', statement), 'retention policy not found: typo');
    });
  }

  it('is an error as the parameter rp', async () => {
    for (const q of ['SELECT v FROM m', 'SHOW TAG KEYS', 'DELETE FROM m']) {
      const { text } = await server.http.send(
        `/query?${new URLSearchParams({ db: 'known', rp: 'typo', q })}`,
      );
      assert.match(text, /"error":"retention policy not found: typo"/, q);
    }
    assert.deepEqual(await lists('known', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
  });

  it('deletes nothing', async () => {
    for (const statement of [
      'DELETE FROM "typo"."m"',
      'DELETE FROM "typo"./.*/',
      `DELETE FROM "known"."typo"."m" WHERE h = 'a'`,
      'DROP SERIES FROM "typo"."m"',
    ]) {
      const failure = String(await ask('known', statement));
      assert.match(failure, /^retention policy not supported: .*"typo"/, statement);
    }
    assert.deepEqual(await lists('known', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
  });

  it('deletes nothing if only a policy in another letter case exists', async () => {
    await write('letters', '', 'm,h=a v=1 1');
    await write('letters', 'week', 'm,h=b v=2 2');
    for (const policy of ['Autogen', 'AUTOGEN', 'Default', 'Week']) {
      for (const deletion of ['DELETE', 'DROP SERIES']) {
        const failure = String(await ask('letters', `${deletion} FROM "${policy}"."m"`));
        assert.match(failure, /^retention policy not supported: /, `${deletion} ${policy}`);
      }
    }
    assert.deepEqual(await lists('letters', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
    assert.deepEqual(await lists('letters', 'SELECT v FROM "Week".m'), [['m', [[2, 2]]]]);
    await ask('letters', 'DELETE FROM "week"."m"');
    assert.deepEqual(await lists('letters', 'SELECT v FROM week.m'), []);
    assert.deepEqual(await lists('letters', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
  });

  it('is not created by INTO, nor is a database', async () => {
    for (const target of ['nodb..n', 'nodb.autogen.n', 'nodb.typo.n']) {
      const failure = String(await ask('known', `SELECT * INTO ${target} FROM m`));
      assert.match(failure, /database not found: nodb$/, target);
    }
    const policies = await lists('known', 'SHOW RETENTION POLICIES');
    assert.ok(!JSON.stringify(policies).includes('typo'), JSON.stringify(policies));
    assert.match(String(await ask('nodb', 'SHOW MEASUREMENTS')), /database not found: nodb$/);
  });

  it('is an error on the native endpoint, where a policy is a database', async () => {
    for (const q of ['SELECT * FROM typo.m', 'SHOW TAG KEYS FROM typo.m']) {
      const response = await server.http.send(
        `/api/v3/query_influxql?${new URLSearchParams({ db: 'known', q })}`,
      );
      assert.equal(response.status, 404, response.text);
      assert.match(response.text, /database not found: known\/typo/);
    }
  });

  it('lists of a named policy are its own, whatever rp is', async () => {
    await write('own', 'r', 'm,h=b v=2 2');
    await write('own', '', 'm,h=a v=1 1');
    const listed = async (from: string) => {
      const { text } = await server.http.send(
        `/query?${new URLSearchParams({ db: 'own', rp: 'r', q: `SHOW SERIES FROM ${from}` })}`,
      );
      return (JSON.parse(text) as { results: { series: Series[] }[] }).results[0]?.series[0]
        ?.values;
    };
    assert.deepEqual(await listed('m'), [['m,h=b']]);
    assert.deepEqual(await listed('autogen.m'), [['m,h=a']]);
    assert.deepEqual(await listed('own.r.m'), [['m,h=b']]);
    assert.deepEqual(await listed('own..m'), [['m,h=a'], ['m,h=b']]);
  });

  it('has no empty name in statements that change or delete', async () => {
    await write('empty', '', 'm v=1 1');
    for (const [statement, failure] of [
      ['ALTER RETENTION POLICY "" ON empty DURATION 1h', /^retention policy not found: $/],
      ['CREATE RETENTION POLICY "" ON empty DURATION 1h REPLICATION 1', /name cannot be empty/],
      ['DELETE FROM ""."m"', /^retention policy not supported/],
      ['DROP SERIES FROM "empty".""."m"', /^retention policy not supported/],
    ] as const) {
      assert.match(String(await ask('empty', statement)), failure, statement);
    }
    assert.deepEqual(await lists('empty', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
  });

  it('is refused as rp by endpoints that name a policy in the database', async () => {
    await write('named', '', 'm v=1 1');
    await write('named', 'keep', 'm v=2 1');
    const all = '{"start":"1970-01-01T00:00:00Z","stop":"2030-01-01T00:00:00Z"}';
    for (const [path, body] of [
      ['/api/v2/delete?bucket=named&rp=keep', all],
      ['/api/v2/delete?bucket=named', all.replace('{', '{"rp":"keep",')],
      ['/api/v2/delete?bucket=named', all.replace('{', '{"bucket":"nodb",')],
      ['/api/v2/write?bucket=named&rp=keep', 'm v=3 3'],
      ['/api/v3/write_lp?db=named&rp=nope', 'm v=3 3'],
      ['/api/v3/query_sql?db=named&rp=keep&q=SELECT+1', undefined],
      ['/api/v3/query_sql?rp=keep', '{"db":"named","q":"SELECT 1"}'],
      ['/api/v3/query_sql?r%70=keep', '{"db":"named","q":"SELECT 1"}'],
      ['/api/v3/query_sql', '{"db":"named","q":"SELECT 1","rp":"keep"}'],
    ] as const) {
      const response = await server.http.send(path, {
        ...(body !== undefined && { body, method: 'POST' }),
      });
      assert.equal(response.status, 400, path);
      assert.match(
        response.text,
        /'rp' is not supported by this endpoint|unknown member '(?:rp|bucket)' in/,
        path,
      );
    }
    assert.deepEqual(await lists('named', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
  });

  it('that is part of db is the target of a write, whatever rp is', async () => {
    await write('part', '', 'm v=1 1');
    for (const query of ['db=part/r', "db=part/r&rp=''", 'db=part/r&rp=', 'db=part/r&rp=autogen']) {
      const response = await server.http.send(`/write?${query}`, { body: 'm v=2 2' });
      assert.equal(response.status, 204, response.text);
    }
    assert.deepEqual(await lists('part', 'SELECT v FROM m'), [['m', [[1, 1]]]]);
    assert.deepEqual(await lists('part', 'SELECT v FROM r.m'), [['m', [[2, 2]]]]);
  });

  it('has no name that only looks like another one', async () => {
    await write('kelvin', 'known', 'm v=1 1');
    const name = '\u212anown';
    assert.match(String(await ask('kelvin', `DELETE FROM "${name}"."m"`)), /not supported/);
    assert.match(String(await ask('kelvin', `SELECT * FROM "${name}"."m"`)), /not found/);
    const { status } = await server.http.send(
      `/write?${new URLSearchParams({ db: 'kelvin', rp: name })}`,
      { body: 'm v=2 2' },
    );
    assert.equal(status, 400);
    assert.deepEqual(await lists('kelvin', 'SELECT v FROM known.m'), [['m', [[1, 1]]]]);
  });

  it('that exists takes writes in its own letter case', async () => {
    await write('known', 'Weekly', `m,h=w v=5 ${Date.now()}000000`);
    await write('known', 'WEEKLY', 'm,h=other v=6 6');
    const policies = (await ask('known', 'SHOW RETENTION POLICIES')) as readonly Series[];
    assert.deepEqual(
      policies[0]?.values.map(([name, duration]) => [name, duration]),
      [
        ['autogen', '0s'],
        ['Weekly', '168h0m0s'],
        ['weekly', '0s'],
      ],
    );
    assert.deepEqual(await lists('known', 'SHOW SERIES FROM "Weekly".m'), [
      [undefined, [['m,h=w']]],
    ]);
    // A new policy is stored in lower case; queries find it by its original name.
    await write('known', 'Daily', 'm,h=d v=7 7');
    assert.deepEqual(await lists('known', 'SELECT v FROM "Daily".m'), [['m', [[7, 7]]]]);
  });
});
