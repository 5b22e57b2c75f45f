// Source: tsdb-http, "Renames"; docs/SCHEMA-CHANGES.md.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FlightClient, jsonTicket, rowsOfTable, tableOf } from '../../harness/flight-client.js';
import {
  assertEmpty,
  assertError,
  type HttpResponse,
  rows,
  SharedServer,
  write,
} from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => await server.close());

const headers = { 'content-type': 'application/json' };
const send = (path: string, json: object): Promise<HttpResponse> =>
  server.http.send(path, { body: JSON.stringify(json), headers });
const renameTable = (json: object) => send('/api/v3/configure/table/rename', json);
const renameColumn = (json: object) => send('/api/v3/configure/column/rename', json);
const influxql = async (db: string, q: string) => {
  const parameters = new URLSearchParams({ db, q, epoch: 'ns' });
  const { text } = await server.http.send(`/query?${parameters}`);
  return JSON.parse(text).results[0];
};
async function put(db: string, lines: string): Promise<void> {
  assertEmpty(await write(server, { db }, lines));
}
async function done(response: Promise<HttpResponse>): Promise<object> {
  const { status, text } = await response;
  assert.equal(status, 200, text);
  return JSON.parse(text);
}
const NONE = { dry_run: false, follows: [], needs_change: [] };
const LINES = 'm,host=a,room=1 temp=1,note="x" 1\nm,host=b temp=2 2';

describe('a renamed column', () => {
  const db = 'rename_columns';
  before(async () => {
    await put(db, LINES);
    const tag = { db, table: 'm', column: 'host', new_name: 'server' };
    assert.deepEqual(await done(renameColumn(tag)), NONE);
    const field = { db, table: 'm', column: 'temp', new_name: 'celsius' };
    assert.deepEqual(await done(renameColumn(field)), NONE);
    await put(db, 'm,server=b celsius=3 3\nm,server=c,room=1 celsius=4 4');
  });

  it('has its new name in SQL, in the order of its name, for old and new rows', async () => {
    const times = [1, 2, 3, 4].map((ns) => `1970-01-01T00:00:00.00000000${ns}`);
    assert.deepEqual(await rows(server, db, 'SELECT * FROM m ORDER BY time'), [
      { celsius: 1, note: 'x', room: '1', server: 'a', time: times[0] },
      { celsius: 2, server: 'b', time: times[1] },
      { celsius: 3, server: 'b', time: times[2] },
      { celsius: 4, room: '1', server: 'c', time: times[3] },
    ]);
    const q =
      "SELECT server, sum(celsius) AS s FROM m WHERE server != 'a' GROUP BY server ORDER BY 1";
    assert.deepEqual(await rows(server, db, q), [
      { server: 'b', s: 5 },
      { server: 'c', s: 4 },
    ]);
    assert.deepEqual(await rows(server, db, "SELECT celsius FROM m WHERE server = 'c'"), [
      { celsius: 4 },
    ]);
  });

  it('has its new name in InfluxQL and in SHOW statements', async () => {
    assert.deepEqual(await influxql(db, 'SELECT sum(celsius) FROM m GROUP BY server'), {
      statement_id: 0,
      series: [
        ['a', 1],
        ['b', 5],
        ['c', 4],
      ].map(([name, sum]) => ({
        ...{ name: 'm', tags: { server: name }, columns: ['time', 'sum'], values: [[0, sum]] },
      })),
    });
    const first = async (q: string) => (await influxql(db, q)).series[0].values.flat();
    assert.deepEqual(await first('SHOW TAG KEYS FROM m'), ['room', 'server']);
    assert.deepEqual(await first('SHOW FIELD KEYS FROM m'), ['celsius', 'float', 'note', 'string']);
    assert.deepEqual(await first('SHOW TAG VALUES FROM m WITH KEY = server'), [
      ...['server', 'a', 'server', 'b', 'server', 'c'],
    ]);
    assert.deepEqual(await first("SHOW SERIES FROM m WHERE server = 'a'"), ['m,room=1,server=a']);
  });

  it('has its new name over Flight and in system tables', async () => {
    const client = new FlightClient(server.url);
    const messages = await client.doGet(
      jsonTicket({
        database: db,
        sql_query: 'SELECT server, celsius FROM m ORDER BY celsius LIMIT 1',
      }),
    );
    assert.deepEqual(rowsOfTable(tableOf(messages)), [{ server: 'a', celsius: 1 }]);
    client.close();
    const q =
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'm' ORDER BY column_name";
    assert.deepEqual(
      await rows(server, db, q),
      ['celsius', 'note', 'room', 'server', 'time'].map((column_name) => ({ column_name })),
    );
  });

  it('is named in the errors of queries and deletions that use the former name', async () => {
    const parameters = (q: string) => new URLSearchParams({ db, q });
    for (const [q, shown] of [
      ['SELECT temp FROM m', "No field named temp; it was renamed to 'celsius'. Valid"],
      ['SELECT m.host FROM m', "No field named m.host; it was renamed to 'server'. Valid"],
      [
        "SELECT 1 FROM m WHERE host = 'a'",
        "No field named host; it was renamed to 'server'. Valid",
      ],
    ] as const) {
      const { status, text } = await server.http.send(`/api/v3/query_sql?${parameters(q)}`);
      assert.equal(status, 400, text);
      assert.ok(text.includes(shown), text);
    }
    const renamed = (column: string, renamedTo: string) =>
      `column '${column}' of table 'm' was renamed to '${renamedTo}'; use the new name`;
    for (const [q, shown] of [
      ['SELECT temp FROM m', renamed('temp', 'celsius')],
      ['SELECT mean(temp) FROM m', renamed('temp', 'celsius')],
      ["SELECT celsius FROM m WHERE host = 'a'", renamed('host', 'server')],
      ['SELECT sum(celsius) FROM m GROUP BY host', renamed('host', 'server')],
      ["SHOW SERIES FROM m WHERE host = 'a'", renamed('host', 'server')],
      ['SHOW TAG VALUES FROM m WITH KEY = "host"', renamed('host', 'server')],
      ['SHOW TAG VALUES FROM m WITH KEY IN (room, host)', renamed('host', 'server')],
      ['SHOW TAG VALUES CARDINALITY FROM m WITH KEY = host', renamed('host', 'server')],
      ["DELETE FROM m WHERE host = 'a'", renamed('host', 'server')],
    ] as const) {
      const { status, text } = await server.http.send(`/query?${parameters(q)}`, {
        method: 'POST',
      });
      assert.ok(text.includes(shown), `${q}: ${status} ${text}`);
    }
    const predicate = '_measurement="m" AND host="a"';
    const stop = '2100-01-01T00:00:00Z';
    const { status, text } = await server.http.send(`/api/v2/delete?bucket=${db}`, {
      body: JSON.stringify({ start: '1970-01-01T00:00:00Z', stop, predicate }),
      headers,
    });
    assert.equal(status, 400, text);
    assert.ok(text.includes(renamed('host', 'server')), text);
    assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n FROM m'), [{ n: 4 }]);
  });

  it('refuses rows with the former name, reports them, and accepts the others', async () => {
    const response = await write(
      server,
      { db },
      'm,host=a celsius=9 9\nm,server=a temp=9 9\nm,server=z celsius=9 9',
    );
    assert.equal(response.status, 400, response.text);
    assert.deepEqual(
      JSON.parse(response.text).data.map((row: { error_message: string }) => row.error_message),
      [
        "column 'host' was renamed to 'server'; write 'server'",
        "column 'temp' was renamed to 'celsius'; write 'celsius'",
      ],
    );
    // The parsers know the tag set of this line from before the rename.
    assert.equal((await write(server, { db }, 'm,host=a,room=1 celsius=9 9')).status, 400);
    assert.deepEqual(await rows(server, db, 'SELECT server FROM m WHERE celsius = 9'), [
      { server: 'z' },
    ]);
    const q = "SELECT count(*) AS n FROM system.refused_writes WHERE reason = 'renamed'";
    assert.deepEqual(await rows(server, db, q), [{ n: 3 }]);
  });

  it('cannot be deleted by its former name, but by its new name', async () => {
    const deleted = 'rename_deleted';
    await put(deleted, LINES);
    const remove = (predicate: string) =>
      send(`/api/v2/delete?bucket=${deleted}`, {
        ...{ start: '1970-01-01T00:00:00Z', stop: '2100-01-01T00:00:00Z', predicate },
      });
    assertEmpty(await remove('host="a"')); // before the rename, and applied by every later query
    await done(renameColumn({ db: deleted, table: 'm', column: 'host', new_name: 'server' }));
    assert.deepEqual(await rows(server, deleted, 'SELECT server FROM m'), [{ server: 'b' }]);
    await put(deleted, 'm,server=a temp=5 5');
    assertEmpty(await remove('server="b"'));
    assert.deepEqual(await rows(server, deleted, 'SELECT server, temp FROM m'), [
      { server: 'a', temp: 5 },
    ]);
  });
});

describe('a renamed table', () => {
  const db = 'rename_tables';
  before(async () => {
    await put(db, LINES);
    assert.deepEqual(await done(renameTable({ db, table: 'm', new_name: 'n' })), NONE);
  });

  it('has its rows and its new name in SQL, InfluxQL and SHOW', async () => {
    assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n FROM n'), [{ n: 2 }]);
    assert.deepEqual(
      await rows(server, db, 'SHOW TABLES').then((all) =>
        (all as { table_schema: string; table_name: string }[])
          .filter(({ table_schema }) => table_schema === 'iox')
          .map(({ table_name }) => table_name),
      ),
      ['n'],
    );
    const shown = await influxql(db, 'SHOW MEASUREMENTS');
    assert.deepEqual(shown.series[0].values, [['n']]);
    assert.equal((await influxql(db, 'SELECT count(temp) FROM n')).series[0].values[0][1], 2);
  });

  it('is named in the errors of queries under the former name', async () => {
    const parameters = new URLSearchParams({ db, q: 'SELECT * FROM m' });
    assertError(
      await server.http.send(`/api/v3/query_sql?${parameters}`),
      400,
      "Error during planning: table 'public.iox.m' not found; it was renamed to 'n'",
    );
    const influx = await influxql(db, 'SELECT * FROM m');
    assert.ok(
      influx.error.includes("measurement 'm' was renamed to 'n'; use the new name"),
      influx.error,
    );
    const path = `/api/v3/configure/table?db=${db}&table=m`;
    assertError(
      await server.http.send(path, { method: 'DELETE' }),
      404,
      `Table m not in DB schema for ${db}; it was renamed to 'n'`,
    );
  });

  it('refuses writes under the former name until the name is freed', async () => {
    const response = await write(server, { db }, LINES);
    assert.equal(response.status, 400, response.text);
    assert.match(response.text, /table 'm' was renamed to 'n'; write to 'n'/);
    const create = await send('/api/v3/configure/table', { db, table: 'm', tags: [] });
    assert.equal(create.status, 409, create.text);
    const freed = await send('/api/v3/configure/table/forget_name', { db, table: 'm' });
    assert.equal(freed.status, 200, freed.text);
    await put(db, 'm,host=new temp=7 7');
    assert.deepEqual(await rows(server, db, 'SELECT host FROM m'), [{ host: 'new' }]);
    assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n FROM n'), [{ n: 2 }]);
  });
});

it('lists what refers to a name, changes nothing in a dry run, and keeps caches working', async () => {
  const db = 'rename_references';
  await put(db, LINES);
  const last = { db, table: 'm', name: 'newest', key_columns: ['host'], value_columns: ['temp'] };
  assert.equal((await send('/api/v3/configure/last_cache', last)).status, 201);
  const distinct = { db, table: 'm', name: 'hosts', columns: ['host'], max_age: 2_000_000_000 };
  assert.equal((await send('/api/v3/configure/distinct_cache', distinct)).status, 201);
  const saved = {
    ...{ name: 'Rename hosts', description: '', folder: '', tags: [], db, lang: 'sql', view: {} },
    text: 'SELECT host FROM m',
  };
  const { id } = JSON.parse((await send('/ops/v1/tsdb/saved-queries', saved)).text);
  const rollup = {
    ...{ db, rollup_name: 'hourly', table: 'hours', every: '1h' },
    query:
      "SELECT date_bin(INTERVAL '1 hour', time) AS time, host, max(temp) AS temp FROM m WHERE time >= $from AND time < $to GROUP BY 1, 2",
  };
  assert.equal((await send('/api/v3/configure/rollup', rollup)).status, 200);
  const references = {
    follows: [
      { kind: 'last_cache', name: 'newest' },
      { kind: 'distinct_cache', name: 'hosts' },
    ],
    needs_change: [
      { kind: 'rollup', name: 'hourly' },
      { kind: 'saved_query', name: 'Rename hosts', id },
    ],
  };
  const rename = { db, table: 'm', column: 'host', new_name: 'server' };
  assert.deepEqual(await done(renameColumn({ ...rename, dry_run: true })), {
    dry_run: true,
    ...references,
  });
  assert.deepEqual(await rows(server, db, 'SELECT host FROM m ORDER BY 1'), [
    { host: 'a' },
    { host: 'b' },
  ]);
  assert.deepEqual(await done(renameColumn(rename)), { dry_run: false, ...references });
  await done(renameTable({ db, table: 'm', new_name: 'n' }));
  await put(db, 'n,server=a temp=8 8\nn,server=q temp=9 9');
  assert.deepEqual(
    await rows(
      server,
      db,
      "SELECT server, temp FROM last_cache('n') WHERE server IN ('a', 'b') ORDER BY server",
    ),
    [
      { server: 'a', temp: 8 },
      { server: 'b', temp: 2 },
    ],
  );
  assert.deepEqual(
    await rows(server, db, "SELECT server FROM distinct_cache('n', 'hosts') ORDER BY server"),
    [...['a', 'b', 'q'].map((name) => ({ server: name }))],
  );
  await server.http.send(`/ops/v1/tsdb/saved-queries/${id}`, { method: 'DELETE' });
});

it('refuses invalid renames with a status and a message', async () => {
  const db = 'rename_invalid';
  await put(db, `${LINES}\nother v=1 1`);
  for (const [response, status, message] of [
    [
      renameTable({ db, table: 'm', new_name: 'other' }),
      409,
      "table 'other' already exists; use another name",
    ],
    [renameTable({ db, table: 'm', new_name: '' }), 400, 'table name cannot be empty'],
    [
      renameTable({ db, table: 'none', new_name: 'x' }),
      404,
      `Table none not in DB schema for ${db}`,
    ],
    [
      renameTable({ db: 'rename_none', table: 'm', new_name: 'x' }),
      404,
      'Database not found rename_none',
    ],
    [renameTable({ db: '_internal', table: 'm', new_name: 'x' }), 403, 'cannot modify internal db'],
    [
      renameColumn({ db, table: 'm', column: 'temp', new_name: 'host' }),
      409,
      "column 'host' already exists; use another name",
    ],
    [
      renameColumn({ db, table: 'm', column: 'time', new_name: 't' }),
      400,
      "column 'time' cannot be renamed; choose a tag or a field",
    ],
    [
      renameColumn({ db, table: 'm', column: 'temp', new_name: 'time' }),
      400,
      "'time' is a reserved column; use another name",
    ],
    [
      renameColumn({ db, table: 'm', column: 'none', new_name: 'x' }),
      404,
      'Column none not in table m',
    ],
  ] as const)
    assertError(await response, status, message);
});
