// Source: tsdb-http, "Conversions"; docs/SCHEMA-CHANGES.md.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  type HttpResponse,
  LiveStream,
  rows,
  ServerInProcess,
  until,
  write,
} from '../../harness/index.js';

// Own server: one conversion runs at a time.
let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

const headers = { 'content-type': 'application/json' };
const PATH = '/api/v3/configure/column/convert';
const convert = (json: object): Promise<HttpResponse> =>
  server.http.send(PATH, { body: JSON.stringify(json), headers });
const put = async (db: string, lines: string) => assertEmpty(await write(server, { db }, lines));

interface Listed {
  readonly id: number;
  readonly state: string;
  readonly copied_count: number;
  readonly error: string | null;
}
const list = async (): Promise<readonly Listed[]> =>
  JSON.parse((await server.http.send(PATH)).text).conversions;
const find = async (id: number) => (await list()).find((each) => each.id === id);

async function started(json: object): Promise<number> {
  const { status, text } = await convert(json);
  assert.equal(status, 202, text);
  return JSON.parse(text).id;
}

async function completed(json: object): Promise<void> {
  const id = await started(json);
  await until(async () => (await find(id))?.state !== 'running', 'the conversion', 60_000);
  const found = await find(id);
  assert.equal(found?.state, 'completed', JSON.stringify(found));
}

const kinds = async (db: string, table = 'm') =>
  rows(
    server,
    db,
    `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_schema = 'iox' AND table_name = '${table}' ORDER BY 1`,
  );

it('converts an integer field to floats, over files and memory, and keeps later writes', async () => {
  const db = 'convert_integers';
  const lines = Array.from({ length: 3000 }, (_, i) => `m,t=${i % 3} v=${i}i,w="x" ${i}000000000`);
  await put(db, lines.join('\n'));
  assert.equal(
    (await server.http.send('/ops/v1/tsdb/storage/flush', { method: 'POST' })).status,
    202,
  );
  const wanted = { db, table: 'm', column: 'v', to: 'float64' };
  const id = await started(wanted);
  // Rows of the former type are accepted until the copy replaces the table.
  let written = 3000;
  for (; (await find(id))?.state === 'running'; written++) {
    const { status } = await write(server, { db }, `m,t=0 v=${written}i ${written}000000000`);
    if (status !== 204) break;
  }
  await until(async () => (await find(id))?.state === 'completed', 'the conversion', 60_000);
  const sum = Array.from({ length: written }, (_, i) => i).reduce((a, b) => a + b, 0);
  assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n, sum(v) AS s FROM m'), [
    { n: written, s: sum },
  ]);
  assert.deepEqual(await kinds(db), [
    { name: 't', type: 'Dictionary(Int32, Utf8)' },
    { name: 'time', type: 'Timestamp(Nanosecond, None)' },
    { name: 'v', type: 'Float64' },
    { name: 'w', type: 'Utf8' },
  ]);
  await put(db, 'm,t=0 v=0.5 1');
  const refused = await write(server, { db }, 'm,t=0 v=1i 2');
  assert.match(refused.text, /expected iox::column_type::field::float, got/);
  const internal =
    "SELECT table_name AS name FROM information_schema.tables WHERE table_name LIKE 'convert_%'";
  assert.deepEqual(await rows(server, '_internal', internal), []);
});

it('follows writes to many separate seconds and deletions during the copy', async () => {
  const db = 'convert_changes';
  const lines = Array.from({ length: 60_000 }, (_, i) => `m,t=${i % 3} v=1i ${i}000000000`);
  await put(db, lines.join('\n'));
  const wanted = { db, table: 'm', column: 'v', to: 'float64' };
  const id = await started(wanted);
  // 600 rows with t=0 in separate seconds.
  const changed = Array.from({ length: 600 }, (_, i) => `m,t=0 v=2i ${i * 99}000000000`);
  await put(db, changed.join('\n'));
  const what = { start: '1970-01-01T00:00:00Z', stop: '2100-01-01T00:00:00Z', predicate: 't="1"' };
  const body = JSON.stringify(what);
  assertEmpty(await server.http.send(`/api/v2/delete?bucket=${db}`, { body, headers }));
  await until(async () => (await find(id))?.state !== 'running', 'the conversion', 60_000);
  assert.equal((await find(id))?.state, 'completed', (await find(id))?.error ?? '');
  assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n, sum(v) AS s FROM m'), [
    { n: 40_000, s: 40_600 },
  ]);
});

it('counts values that cannot be converted, and does not start with them', async () => {
  const db = 'convert_texts';
  await put(db, 'm v="1.5",w=1 1\nm v="warm",w=2 2\nm v="-3" 3');
  const wanted = { db, table: 'm', column: 'v', to: 'float64' };
  const dry = await convert({ ...wanted, dry_run: true });
  assert.deepEqual(JSON.parse(dry.text), {
    ...{ dry_run: true, row_count: 3, value_count: 3, impossible_values: 1, inexact_values: 0 },
    ...{ rows_without_field: 0, merged_points: 0, follows: [], needs_change: [] },
  });
  assertError(
    await convert(wanted),
    400,
    "1 values of 'v' cannot become float64; delete or correct their rows first",
  );
  await put(db, 'm v="4" 2');
  await completed(wanted);
  assert.deepEqual(await rows(server, db, 'SELECT v, w FROM m ORDER BY v'), [
    { v: -3 },
    { v: 1.5, w: 1 },
    { v: 4, w: 2 },
  ]);
});

it('converts a tag to a field; of merged points, the greatest former value wins', async () => {
  const db = 'convert_tags';
  await put(
    db,
    'm,host=a,room=1 v=1,w=1 1\nm,host=b,room=1 v=2 1\nm,room=2 v=3 2\nm,host=a,room=2 v=4 3',
  );
  const wanted = { db, table: 'm', column: 'host', to: 'utf8' };
  const dry = JSON.parse((await convert({ ...wanted, dry_run: true })).text);
  assert.deepEqual([dry.row_count, dry.merged_points], [4, 1]);
  await completed(wanted);
  assert.deepEqual(await rows(server, db, 'SELECT host, room, v, w FROM m ORDER BY time'), [
    { host: 'b', room: '1', v: 2, w: 1 },
    { room: '2', v: 3 },
    { host: 'a', room: '2', v: 4 },
  ]);
});

it('converts a field to a tag, unless a row would have no field', async () => {
  const db = 'convert_fields';
  await put(db, 'm,room=1 host="a b",v=1 1\nm,room=1 v=2 2\nm,room=1 host="c" 3');
  const wanted = { db, table: 'm', column: 'host', to: 'tag' };
  assertError(
    await convert(wanted),
    400,
    "1 rows have no field except 'host', and points must have a field; delete these rows first",
  );
  await put(db, 'm,room=1 v=3 3');
  await completed(wanted);
  assert.deepEqual(await rows(server, db, "SELECT host, v FROM m WHERE room = '1' ORDER BY time"), [
    { host: 'a b', v: 1 },
    { v: 2 },
    { host: 'c', v: 3 },
  ]);
  await put(db, 'm,room=1,host=d v=4 4');
  assert.deepEqual(await rows(server, db, "SELECT v FROM m WHERE host = 'd'"), [{ v: 4 }]);
});

it('refuses to copy tabs, newlines and NaN, which line protocol would change', async () => {
  const db = 'convert_breaks';
  await put(db, 'm,room=1 a="x\ny",b="x\\\\y",v="1",w="NaN",n=1 1');
  const convertOf = (table: string, column: string, to: string) =>
    convert({ db, table, column, to });
  assertError(
    await convertOf('m', 'a', 'tag'),
    400,
    "1 values of 'a' cannot become tag; delete or correct their rows first",
  );
  assertError(
    await convertOf('m', 'w', 'float64'),
    400,
    "1 values of 'w' cannot become float64; delete or correct their rows first",
  );
  await completed({ db, table: 'm', column: 'b', to: 'tag' });
  assert.deepEqual(await rows(server, db, 'SELECT a, b FROM m'), [{ a: 'x\ny', b: 'x\\y' }]);
  await put(db, 'tags,host=a\\\tb v=1i 1\ntags,host=c v=2i 2');
  assertError(
    await convertOf('tags', 'v', 'float64'),
    400,
    '1 rows contain NaN, or a tag with a tab or newline, which cannot be copied; delete these rows first',
  );
  await put(db, 'names a\\\tb=1i,v=1i 1');
  const refused = await convertOf('names', 'v', 'float64');
  assert.equal(refused.status, 400);
  assert.match(
    refused.text,
    /contains a tab or newline, which cannot be copied; rename the column first/,
  );
});

it('keeps names, retention period and caches, except caches of the converted column', async () => {
  const db = 'convert_objects';
  await put(db, 'm,host=a v=1i,w=2 1\nm,host=b v=3i 2');
  const cache = (json: object) =>
    server.http.send('/api/v3/configure/last_cache', { body: JSON.stringify(json), headers });
  const last = { db, table: 'm', key_columns: ['host'] };
  for (const [name, value_columns] of [
    ['kept', ['w']],
    ['dropped', ['v']],
  ])
    assert.equal((await cache({ ...last, name, value_columns })).status, 201);
  const rename = { db, table: 'm', column: 'host', new_name: 'server' };
  const path = '/api/v3/configure/column/rename';
  assert.equal(
    (await server.http.send(path, { body: JSON.stringify(rename), headers })).status,
    200,
  );
  const dry = await server.http.send('/api/v3/configure/column/convert', {
    body: JSON.stringify({ db, table: 'm', column: 'v', to: 'utf8', dry_run: true }),
    headers,
  });
  const listed = JSON.parse(dry.text) as Record<'follows' | 'needs_change', unknown>;
  assert.deepEqual(
    [listed.follows, listed.needs_change],
    [[{ kind: 'last_cache', name: 'kept' }], [{ kind: 'last_cache', name: 'dropped' }]],
  );
  await completed({ db, table: 'm', column: 'v', to: 'utf8' });
  assert.deepEqual(
    await rows(server, db, "SELECT server, w FROM last_cache('m', 'kept') ORDER BY 1"),
    [{ server: 'a', w: 2 }, { server: 'b' }],
  );
  assert.deepEqual(await rows(server, db, 'SELECT name FROM system.last_caches'), [
    { name: 'kept' },
  ]);
  const refused = await write(server, { db }, 'm,host=a w=1 5');
  assert.match(refused.text, /column 'host' was renamed to 'server'/);
  assert.deepEqual(await rows(server, db, 'SELECT v FROM m ORDER BY 1'), [{ v: '1' }, { v: '3' }]);
});

it('keeps the former table, which can be restored after the converted one was renamed', async () => {
  const db = 'convert_restored';
  await put(db, 'm v=1i 1');
  await completed({ db, table: 'm', column: 'v', to: 'utf8' });
  const call = (action: string, json: object) =>
    server.http.send(`/api/v3/configure/table/${action}`, {
      body: JSON.stringify({ db, table: 'm', ...json }),
      headers,
    });
  assert.equal((await call('undelete', {})).status, 409);
  for (const [action, json] of [
    ['rename', { new_name: 'converted' }],
    ['undelete', {}],
  ] as const) {
    const { status, text } = await call(action, json);
    assert.equal(status, 200, `${action}: ${text}`);
  }
  assert.deepEqual(await rows(server, db, 'SELECT v FROM m'), [{ v: 1 }]);
  assert.deepEqual(await rows(server, db, 'SELECT v FROM converted'), [{ v: '1' }]);
});

it('converts a table with a retention period', async () => {
  const db = 'convert_retention';
  const create = { db, retention_period: '1h' };
  const path = '/api/v3/configure/database';
  assert.equal(
    (await server.http.send(path, { body: JSON.stringify(create), headers })).status,
    200,
  );
  const now = BigInt(Date.now()) * 1_000_000n;
  await put(db, `m v=1i 1\nm v=2i ${now}`);
  await completed({ db, table: 'm', column: 'v', to: 'utf8' });
  assert.deepEqual(await rows(server, db, 'SELECT v FROM m'), [{ v: '2' }]);
});

it('refuses types that a column cannot have', async () => {
  const db = 'convert_invalid';
  await put(db, 'm,host=a v=1i 1');
  for (const [response, status, message] of [
    [
      convert({ db, table: 'm', column: 'v', to: 'bool' }),
      400,
      "column 'v' of type int64 cannot become bool; use float64, uint64, utf8, tag",
    ],
    [
      convert({ db, table: 'm', column: 'v', to: 'int64' }),
      400,
      "column 'v' of type int64 cannot become int64; use float64, uint64, utf8, tag",
    ],
    [
      convert({ db, table: 'm', column: 'host', to: 'float64' }),
      400,
      "column 'host' of type tag cannot become float64; use utf8",
    ],
    [
      convert({ db, table: 'm', column: 'time', to: 'utf8' }),
      400,
      "column 'time' of type time cannot become utf8; use a tag or field",
    ],
    [convert({ db, table: 'm', column: 'none', to: 'utf8' }), 404, 'Column none not in table m'],
    [
      convert({ db: '_internal', table: 'm', column: 'v', to: 'utf8' }),
      403,
      'cannot modify internal db',
    ],
  ] as const)
    assertError(await response, status, message);
  assert.equal((await convert({ db, table: 'm', column: 'v', to: 'text' })).status, 400);
});

it('ends live queries, and never sends the copied rows as new rows', async () => {
  const db = 'convert_followed';
  await put(db, 'm v=1i 1\nm v=2i 2');
  const path = `/api/v3/subscribe?db=${db}&q=SELECT%20v%20FROM%20m`;
  const first = await LiveStream.openPath(server.url, path);
  const { id } = await first.until(({ event }) => event === 'start');
  await completed({ db, table: 'm', column: 'v', to: 'float64' });
  const { data } = await first.until(({ event }) => event === 'end');
  // `plinth watch` reconnects after exactly this reason.
  assert.deepEqual(data, {
    reason: 'a column of the table was converted, or the table was created again',
  });
  const again = await LiveStream.openPath(server.url, path, { 'last-event-id': id });
  await again.until(({ event }) => event === 'gap');
  await put(db, 'm v=3.5 3');
  await again.until(({ event }) => event === '');
  const sent = again.events.map(({ event, data }) => (event === '' ? data : event));
  assert.deepEqual(sent, ['start', 'gap', [{ v: 3.5 }]]);
  again.close();
});

it('has no effect after a cancellation or a kill', async () => {
  const db = 'convert_cancelled';
  const lines = Array.from({ length: 60_000 }, (_, i) => `m,t=${i % 3} v=${i}i ${i}000000000`);
  await put(db, lines.join('\n'));
  const wanted = { db, table: 'm', column: 'v', to: 'float64' };
  const id = await started(wanted);
  assert.equal((await convert(wanted)).status, 409);
  const rename = JSON.stringify({ db, table: 'm', new_name: 'n' });
  const renamed = await server.http.send('/api/v3/configure/table/rename', {
    body: rename,
    headers,
  });
  assert.equal(renamed.status, 409, renamed.text);
  const cancelled = await server.http.send(`${PATH}?id=${id}`, { method: 'DELETE' });
  assert.equal(cancelled.status, 200, cancelled.text);
  await until(async () => (await find(id))?.state === 'cancelled', 'the end', 60_000);
  const { dataDir } = server;
  await started(wanted);
  await server.kill();
  server = await ServerInProcess.start({ dataDir });
  assert.deepEqual(await list(), []);
  assert.deepEqual(await rows(server, db, 'SELECT count(*) AS n, sum(v) AS s FROM m'), [
    { n: 60_000, s: (60_000 * 59_999) / 2 },
  ]);
  const internal =
    "SELECT table_name AS name FROM information_schema.tables WHERE table_name LIKE 'convert_%'";
  assert.deepEqual(await rows(server, '_internal', internal), []);
  await completed(wanted);
});
