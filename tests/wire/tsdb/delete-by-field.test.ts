// Source: query-languages, "Deleting rows by field values"; tsdb-http, "Deleting rows".
// Own process: it is killed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  type HttpResponse,
  type OwnServer,
  rows,
  ServerInProcess,
  ServerProcess,
  write,
} from '../../harness/index.js';

let process: ServerProcess;
let server: OwnServer;
before(async () => {
  process = await ServerProcess.start();
  server = process;
});
after(async () => {
  await server.close();
  await process.close();
});

const json = { 'content-type': 'application/json' };
const years = { start: '1970-01-01T00:00:00Z', stop: '2100-01-01T00:00:00Z' };
const remove = (bucket: string, predicate: string, times: object = years): Promise<HttpResponse> =>
  server.http.send(`/api/v2/delete?bucket=${encodeURIComponent(bucket)}`, {
    body: JSON.stringify({ ...times, predicate }),
    headers: json,
  });
const valuesOf = (db: string, table = 'm') =>
  rows(server, db, `SELECT room, temp, status, ok FROM "${table}" ORDER BY time`);

const LINES = [
  'm,room=a temp=20,status="good",ok=true 1000000000',
  'm,room=a temp=31,status="bad" 2000000000',
  'm,room=b temp=-5,ok=false 3000000000',
  'm status="bad" 4000000000',
].join('\n');
const [A20, A31, B5, BAD] = [
  { room: 'a', temp: 20, status: 'good', ok: true },
  { room: 'a', temp: 31, status: 'bad' },
  { room: 'b', temp: -5, ok: false },
  { status: 'bad' },
];

describe('POST /api/v2/delete with a condition on a field', () => {
  const cases: readonly (readonly [string, readonly object[]])[] = [
    ['_measurement="m" AND temp > 30', [A20, B5, BAD]],
    ['temp >= 31', [A20, B5, BAD]],
    ['temp < -4.5', [A20, A31, BAD]],
    ['temp<=20', [A31, BAD]],
    ['temp=-5', [A20, A31, BAD]],
    ['temp != 20', [A20, BAD]],
    ['status = "bad"', [A20, B5]],
    ["status != 'good'", [A20, B5]],
    ['ok = false', [A20, A31, BAD]],
    ['status="bad" AND room="a"', [A20, B5, BAD]],
    ['status="bad" AND room=""', [A20, A31, B5]],
    ['status="bad" AND room!=a', [A20, A31, B5]],
    // A value of another type matches no row.
    ['temp = "31"', [A20, A31, B5, BAD]],
  ];
  for (const [i, [predicate, kept]] of cases.entries())
    it(`deletes the rows with ${predicate}`, async () => {
      const db = `case${i}`;
      assertEmpty(await write(server, { db }, `${LINES}\nother,room=a v=40 1`));
      assertEmpty(await remove(db, predicate));
      assert.deepEqual(await valuesOf(db), kept);
      assert.deepEqual(await rows(server, db, 'SELECT v FROM other'), [{ v: 40 }]);
    });

  it('compares integers exactly up to the bounds of their types', async () => {
    const db = 'exact';
    const numbers = [
      ['i', '-9223372036854775808', '-9223372036854775807', '9223372036854775806'],
      ['u', '18446744073709551613', '18446744073709551614', '18446744073709551615'],
    ] as const;
    for (const [type, ...values] of numbers)
      assertEmpty(
        await write(
          server,
          { db },
          values.map((value, i) => `${type} v=${value}${type} ${i + 1}`).join('\n'),
        ),
      );
    for (const [predicate, kept] of [
      ['_measurement=i AND v=-9223372036854775808', [2, 3]],
      ['_measurement=i AND v > 9223372036854775806', [2, 3]],
      ['_measurement=i AND v >= 9223372036854775806', [2]],
      ['_measurement=u AND v=18446744073709551614', [1, 3]],
      ['_measurement=u AND v > 18446744073709551613', [1]],
    ] as const) {
      assertEmpty(await remove(db, predicate));
      const table = predicate.includes('=i ') ? 'i' : 'u';
      const q = `SELECT CAST(time AS BIGINT) AS t FROM ${table} ORDER BY time`;
      assert.deepEqual(
        await rows(server, db, q),
        kept.map((t) => ({ t })),
        predicate,
      );
    }
    for (const value of ['18446744073709551616', '-9223372036854775809']) {
      const refused = await remove(db, `_measurement=u AND v=${value}`);
      assert.equal(refused.status, 400);
      assert.match(refused.text, /out of range; use an integer from -9223372036854775808 to/);
    }
  });

  it('also removes the rows from last-value caches', async () => {
    assertEmpty(await write(server, { db: 'cached' }, LINES));
    const { status, text } = await server.http.send('/api/v3/configure/last_cache', {
      body: JSON.stringify({ db: 'cached', table: 'm', name: 'last', key_columns: ['room'] }),
      headers: json,
    });
    assert.equal(status, 201, text);
    const last = () =>
      rows(
        server,
        'cached',
        "SELECT temp FROM last_cache('m') WHERE room IS NOT NULL ORDER BY room",
      );
    assert.deepEqual(await last(), [{ temp: 31 }, { temp: -5 }]);
    assertEmpty(await remove('cached', 'temp > 30'));
    assert.deepEqual(await last(), [{ temp: 20 }, { temp: -5 }]);
    assertEmpty(await remove('cached', 'temp < 0'));
    assert.deepEqual(await last(), [{ temp: 20 }]);
  });

  it('respects the times and the retention policy', async () => {
    for (const db of ['times', 'times/week']) assertEmpty(await write(server, { db }, LINES));
    const first = { start: '1970-01-01T00:00:01Z', stop: '1970-01-01T00:00:02Z' };
    assertEmpty(await remove('times/week', 'temp > 0 AND temp < 100', first));
    assert.deepEqual(await valuesOf('times/week'), [B5, BAD]);
    assert.deepEqual(await valuesOf('times'), [A20, A31, B5, BAD]);
    assertEmpty(await remove('times', 'temp > 0', first));
    assert.deepEqual(await valuesOf('times'), [B5, BAD]);
    assert.deepEqual(await valuesOf('times/week'), [B5, BAD]);
  });

  it('is refused if it is invalid, and then deletes nothing', async () => {
    assertEmpty(await write(server, { db: 'wrong' }, LINES));
    for (const [predicate, message] of [
      ['room > "a"', /no table has a field "room", and tags support only = and !=/],
      ['nope > 1', /no table has a field "nope"/],
      ['temp > warm', /the value of field "temp" is not valid; use a number, true, false or/],
      ['temp >', /expected tag = "value"/],
      ['_field != "temp"', /_field supports only =/],
      ['_field="temp" AND _field="ok"', /more than one _field/],
      ['_field="temp" AND _value > 30', /use the name of the field, as in temp > 30/],
      ['_measurement > "m"', /_measurement supports only =/],
    ] as const) {
      const { status, text } = await remove('wrong', predicate);
      assert.equal(status, 400, text);
      assert.match(text.replaceAll('\\"', '"'), message, predicate);
    }
    const { status } = await remove('_internal', 'value > 1');
    assert.equal(status, 403);
    assert.deepEqual(await valuesOf('wrong'), [A20, A31, B5, BAD]);
  });
});

describe('POST /api/v2/delete with _field', () => {
  const [NO_TEMP, NO_TEMP_31] = [
    { room: 'a', status: 'good', ok: true },
    { room: 'a', status: 'bad' },
  ];
  const NO_TEMP_B = { room: 'b', ok: false };
  const cases: readonly (readonly [string, readonly object[]])[] = [
    ['_field="temp"', [NO_TEMP, NO_TEMP_31, NO_TEMP_B, BAD]],
    ['_measurement="m" AND _field="temp" AND room="a"', [NO_TEMP, NO_TEMP_31, B5, BAD]],
    ['_field=temp AND temp > 20', [A20, NO_TEMP_31, B5, BAD]],
    ['_field="temp" AND status="good" AND room="a"', [NO_TEMP, A31, B5, BAD]],
    // The last row has no other field.
    ['_field="status"', [{ room: 'a', temp: 20, ok: true }, { room: 'a', temp: 31 }, B5]],
    // Neither a tag, an unknown field, a field of another table nor an unknown table is a field of m.
    ['_field="room"', [A20, A31, B5, BAD]],
    ['_field="nope"', [A20, A31, B5, BAD]],
    ['_field="v"', [A20, A31, B5, BAD]],
    ['_measurement="nope" AND _field="temp"', [A20, A31, B5, BAD]],
  ];
  for (const [i, [predicate, kept]] of cases.entries())
    it(`deletes the values with ${predicate}`, async () => {
      const db = `field${i}`;
      assertEmpty(await write(server, { db }, `${LINES}\nother,room=a v=40,temp=1 1`));
      assertEmpty(await remove(db, predicate));
      assert.deepEqual(await valuesOf(db), kept);
      const count = 'SELECT count(*) AS n, count(temp) AS t, count(status) AS s FROM m';
      const having = (name: string) => kept.filter((row) => name in row).length;
      const counts = { n: kept.length, t: having('temp'), s: having('status') };
      assert.deepEqual(await rows(server, db, count), [counts]);
      const other = predicate === '_field="temp"' ? [{ v: 40 }] : undefined;
      const gone = predicate === '_field="v"' ? [{ temp: 1 }] : undefined;
      const present = [{ v: 40, temp: 1 }];
      assert.deepEqual(
        await rows(server, db, 'SELECT v, temp FROM other'),
        other ?? gone ?? present,
      );
    });

  it('respects the times, and keeps values that are written afterwards', async () => {
    const db = 'field_times';
    assertEmpty(await write(server, { db }, LINES));
    const second = { start: '1970-01-01T00:00:02Z', stop: '1970-01-01T00:00:02Z' };
    assertEmpty(await remove(db, '_field="temp"', second));
    assertEmpty(await remove(db, '_field="status"', second));
    assert.deepEqual(await valuesOf(db), [A20, B5, BAD]);
    assertEmpty(await write(server, { db }, 'm,room=a temp=7 2000000000'));
    assert.deepEqual(await valuesOf(db), [A20, { room: 'a', temp: 7 }, B5, BAD]);
  });

  it('also applies to columns in memory and to caches', async () => {
    const db = 'field_caches';
    assertEmpty(await write(server, { db }, LINES));
    // A distinct-value cache contains recent values only.
    assertEmpty(await write(server, { db }, 'now,room=a s="x",v=1\nnow,room=b s="y",v=1'));
    const cache = (kind: string, options: object) =>
      server.http.send(`/api/v3/configure/${kind}_cache`, {
        body: JSON.stringify({ db, name: kind, ...options }),
        headers: json,
      });
    assert.equal((await cache('last', { table: 'm', key_columns: ['room'] })).status, 201);
    assert.equal((await cache('distinct', { table: 'now', columns: ['s'] })).status, 201);
    const maxima = () => rows(server, db, 'SELECT max(temp) AS t, max(status) AS s FROM m');
    const last = () =>
      rows(server, db, "SELECT temp, status FROM last_cache('m') WHERE room = 'a'");
    const distinct = () => rows(server, db, "SELECT s FROM distinct_cache('now') ORDER BY 1");
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(await maxima(), [{ t: 31, s: 'good' }]);
      assert.deepEqual(await last(), [{ temp: 31, status: 'bad' }]);
    }
    assert.deepEqual(await distinct(), [{ s: 'x' }, { s: 'y' }]);
    assertEmpty(await remove(db, '_field="temp" AND room="a"'));
    assert.deepEqual(await maxima(), [{ t: -5, s: 'good' }]);
    assert.deepEqual(await last(), [{ status: 'bad' }]);
    assertEmpty(await remove(db, '_field="status" AND status="good"'));
    assert.deepEqual(await maxima(), [{ t: -5, s: 'bad' }]);
    assertEmpty(await remove(db, '_field="s" AND room="b"'));
    assert.deepEqual(await distinct(), [{ s: 'x' }, {}]); // the row of b has no s any more
    assert.deepEqual(await rows(server, db, 'SELECT count(v) AS n FROM now'), [{ n: 2 }]);
  });
});

describe('names with special characters', () => {
  it('select exactly their table and field', async () => {
    const table = `a"b'\\c -- ;`;
    const name = `f"'x`;
    const line = (measurement: string) => `${measurement} ${name}=1 1`;
    const escaped = table.replaceAll(' ', '\\ ');
    assertEmpty(await write(server, { db: 'names' }, `${line(escaped)}\n${line('m')}`));
    const quoted = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    const predicate = `_measurement="${quoted(table)}" AND "${quoted(name)}" = 1`;
    assertEmpty(await remove('names', predicate));
    const count = async (of: string) =>
      await rows(server, 'names', `SELECT count(*) AS n FROM "${of.replaceAll('"', '""')}"`);
    assert.deepEqual([await count(table), await count('m')], [[{ n: 0 }], [{ n: 1 }]]);
  });
});

describe('DELETE with a condition on a field', () => {
  const run = async (q: string): Promise<unknown> => {
    const path = `/query?db=influxql&q=${encodeURIComponent(q)}`;
    return JSON.parse((await server.http.send(path, { method: 'POST' })).text);
  };

  it('deletes rows in all policies, which stay deleted after kill -9', async () => {
    for (const db of ['influxql', 'influxql/week']) {
      assertEmpty(await write(server, { db }, LINES));
    }
    const done = { results: [{ statement_id: 0 }] };
    assertEmpty(await write(server, { db: 'fields' }, LINES));
    assert.deepEqual(await run('DELETE FIELD temp, ok FROM fields.autogen.m'), done);
    assert.deepEqual(await run("DELETE FIELD status FROM fields.autogen.m WHERE room = 'a'"), done);
    assert.deepEqual(
      await run("DELETE FROM m WHERE temp > 30 OR (status = 'bad' AND room = '')"),
      done,
    );
    assertEmpty(await write(server, { db: 'influxql' }, 'm,room=a ok=true 2000000000'));
    await process.kill();
    server = await ServerInProcess.start({ dataDir: process.dataDir });
    assert.deepEqual(await valuesOf('influxql'), [A20, { room: 'a', ok: true }, B5]);
    assert.deepEqual(await valuesOf('influxql/week'), [A20, B5]);
    assert.deepEqual(await valuesOf('fields'), [BAD]);
    assert.deepEqual(await run('DELETE WHERE ok != false AND time > 1s'), done);
    assert.deepEqual(await valuesOf('influxql'), [A20, B5]);
  });
});
