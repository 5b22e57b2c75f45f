// Source: tsdb-http, "Databases", "Tables" and "Deletion life cycle".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertEmpty,
  assertError,
  assertJson,
  type HttpResponse,
  rows,
  ServerInProcess,
  write,
} from '../../harness/index.js';

const DATABASE = '/api/v3/configure/database';
const TABLE = '/api/v3/configure/table';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

const call = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
  server.http.send(path, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
const ask = async (db: string, q: string) =>
  (await rows(server, db, q)) as Record<string, unknown>[];

/** Asserts status 200 and an empty body. */
async function done(response: Promise<HttpResponse>): Promise<void> {
  const { status, text } = await response;
  assert.deepEqual([status, text], [200, '']);
}

const databases = async (query = '') =>
  JSON.parse((await call('GET', `${DATABASE}?format=json${query}`)).text) as Record<
    string,
    unknown
  >[];
const deletedNames = async (name: string) =>
  (await databases('&show_deleted=true'))
    .filter((row) => row['deleted'] === true)
    .map((row) => String(row['iox::database']))
    .filter((each) => each.startsWith(`${name}-`));

describe('databases', () => {
  it('D-01 are created, listed, given a retention period and deleted', async () => {
    await done(call('POST', DATABASE, { db: 'd01' }));
    assertError(
      await call('POST', DATABASE, { db: 'd01' }),
      409,
      'attempted to create a resource that already exists',
    );
    assert.ok((await databases()).some((row) => row['iox::database'] === 'd01'));
    const period = async () =>
      (
        await ask(
          '_internal',
          "SELECT retention_period_ns AS ns FROM system.databases WHERE database_name = 'd01'",
        )
      )[0]?.['ns'];
    assert.equal(await period(), undefined);
    await done(call('PUT', DATABASE, { db: 'd01', retention_period: '1d 12h' }));
    assert.equal(await period(), 129_600_000_000_000);
    await done(call('PUT', DATABASE, { db: 'd01' }));
    assert.equal(await period(), undefined);
    assertEmpty(await call('POST', `${DATABASE}/retention_period?db=d01&duration=7days`));
    assert.equal(await period(), 604_800_000_000_000);
    assertEmpty(await call('DELETE', `${DATABASE}/retention_period?db=d01`));
    assert.equal(await period(), undefined);
    await done(call('DELETE', `${DATABASE}?db=d01`));
    assert.ok(!(await databases()).some((row) => row['iox::database'] === 'd01'));
  });

  it('D-01 refuse what is wrong and change nothing', async () => {
    const count = (await databases('&show_deleted=true')).length;
    const refuse = async (
      method: string,
      path: string,
      body: unknown,
      status: number,
      error: string,
    ) => assertError(await call(method, path, body), status, error);
    await refuse('POST', DATABASE, {}, 400, 'serde json error: missing field `db`');
    await refuse('POST', DATABASE, { db: null }, 400, 'serde json error: missing field `db`');
    await refuse(
      'POST',
      DATABASE,
      { db: 7 },
      400,
      'serde json error: invalid type for field `db`: integer `7`, expected a string',
    );
    await refuse('POST', DATABASE, { db: '' }, 400, 'db name cannot be empty');
    await refuse(
      'POST',
      DATABASE,
      { db: '_x' },
      400,
      'db name did not start with a number or letter',
    );
    await refuse(
      'POST',
      DATABASE,
      { db: 'd02', retention_period: '3 parsecs' },
      400,
      'serde json error: unknown time unit "parsecs", supported units: ns, us/µs, ms, sec, min, hours, days, weeks, months, years (and few variations)',
    );
    // The minimum is a second: a period of zero would hide and remove every row.
    for (const retention_period of ['0s', '1ns', '999ms']) {
      const fault = 'the retention period must be at least 1 second';
      await refuse(
        'POST',
        DATABASE,
        { db: 'd02', retention_period },
        400,
        `serde json error: ${fault}`,
      );
      await refuse(
        'POST',
        `${DATABASE}/retention_period?db=_internal&duration=${retention_period}`,
        undefined,
        400,
        `Cannot parse the given human time: ${fault}`,
      );
    }
    await refuse(
      'POST',
      DATABASE,
      { db: '_internal' },
      400,
      'db name did not start with a number or letter',
    );
    await refuse(
      'PUT',
      DATABASE,
      { db: 'nobody' },
      404,
      'the requested resource was not found: nobody',
    );
    await refuse('PUT', DATABASE, { db: '_internal' }, 403, 'cannot modify internal db');
    await refuse('DELETE', `${DATABASE}?db=_internal`, undefined, 403, 'cannot delete internal db');
    await refuse(
      'DELETE',
      `${DATABASE}?db=nobody`,
      undefined,
      404,
      'the requested resource was not found: nobody',
    );
    await refuse('DELETE', DATABASE, undefined, 400, 'serde error: missing field `db`');
    await refuse('DELETE', TABLE, undefined, 400, 'serde error: missing field `db`');
    await refuse(
      'DELETE',
      `${DATABASE}?hard_delete_at=now`,
      undefined,
      400,
      'serde error: missing field `db`',
    );
    await refuse(
      'DELETE',
      `${DATABASE}?db=a`,
      { db: 'b' },
      400,
      "conflicting values for 'db' and 'db'",
    );
    await refuse(
      'POST',
      `${DATABASE}/retention_period?db=nobody&duration=x`,
      undefined,
      400,
      'Cannot parse the given human time: expected number at 0',
    );
    await refuse(
      'POST',
      `${DATABASE}/retention_period?db=nobody&duration=1h`,
      undefined,
      404,
      'the requested resource was not found: nobody',
    );
    const text = {
      method: 'POST',
      body: '{"db":"d02"}',
      headers: { 'content-type': 'text/plain' },
    };
    assertError(
      await server.http.send(DATABASE, text),
      415,
      'unacceptable content-type, expected: application/json',
    );
    assert.equal((await databases('&show_deleted=true')).length, count);
  });

  it('D-03 are renamed when they are deleted, and their name is free at once', async () => {
    assertEmpty(await write(server, { db: 'd03' }, 'm,t=a v=1 1'));
    await done(call('DELETE', DATABASE, { db: 'd03' }));
    const [name = ''] = await deletedNames('d03');
    assert.match(name, /^d03-\d{8}T\d{6}$/);
    const gone = await server.http.send('/api/v3/query_sql?db=d03&q=SELECT%201');
    assertError(gone, 404, 'query error: database not found: d03');
    const renamed = await server.http.send(`/api/v3/query_sql?db=${name}&q=SELECT%201`);
    assertError(renamed, 404, `query error: database not found: ${name}`);
    assertError(
      await write(server, { db: name }, 'm v=1'),
      400,
      `cannot write to soft-deleted database '${name}' - it is marked for deletion`,
    );
    assertEmpty(await write(server, { db: 'd03' }, 'm,u=b w=2i 1'));
    assert.deepEqual(await ask('d03', 'SELECT u, w FROM m'), [{ u: 'b', w: 2 }]);
    assertError(
      await call('DELETE', `${DATABASE}?db=${name}`),
      409,
      `attempted to modify resource that was already deleted: ${name}`,
    );
    assertError(
      await call('PUT', DATABASE, { db: name }),
      409,
      `attempted to modify resource that was already deleted: ${name}`,
    );
  });

  it('D-04 take now, never, default, a time, and nothing else for hard_delete_at', async () => {
    const hardDeletion = async (name: string) =>
      (
        await ask(
          '_internal',
          `SELECT hard_deletion_time AS t FROM system.databases WHERE database_name = '${name}'`,
        )
      )[0]?.['t'];
    await done(call('POST', DATABASE, { db: 'd04' }));
    assertError(
      await call('DELETE', `${DATABASE}?db=d04&hard_delete_at=soon`),
      400,
      'Cannot parse the timestamp: input contains invalid characters',
    );
    for (const noSuchTime of [
      '2099-02-29T00:00:00Z',
      '2099-13-01T00:00:00Z',
      '2099-01-01T24:00:00Z',
    ]) {
      assertError(
        await call('DELETE', `${DATABASE}?db=d04&hard_delete_at=${noSuchTime}`),
        400,
        'Cannot parse the timestamp: input is out of range',
      );
    }
    await done(call('DELETE', `${DATABASE}?db=d04&hard_delete_at=2099-01-02T03:04:05Z`));
    const [name = ''] = await deletedNames('d04');
    assert.equal(await hardDeletion(name), '2099-01-02T03:04:05Z');
    assert.equal(
      (await call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=2099-01-02T03:04:05Z`)).status,
      409,
    );
    await done(call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=never`));
    assert.equal(await hardDeletion(name), undefined);
    await done(call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=default`));
    const scheduledMs = Date.parse(String(await hardDeletion(name)));
    assert.ok(Math.abs(scheduledMs - (Date.now() + 72 * 3_600_000)) < 60_000);
    assert.equal(
      (await call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=default`)).status,
      409,
    );
  });

  it('D-04 takes a time in each form of ISO 8601', async () => {
    const forms: readonly (readonly [text: string, rfc3339: string])[] = [
      ['2099-01-02', '2099-01-02T00:00:00Z'],
      ['20990102', '2099-01-02T00:00:00Z'],
      ['2099-01-02T03:04', '2099-01-02T03:04:00Z'],
      ['2099-01-02T03:04:05', '2099-01-02T03:04:05Z'],
      ['2099-01-02 03:04:05', '2099-01-02T03:04:05Z'],
      ['20990102T030405Z', '2099-01-02T03:04:05Z'],
      ['2099-01-02T03:04:05+02:00', '2099-01-02T01:04:05Z'],
      ['20990102T030405-0130', '2099-01-02T04:34:05Z'],
    ];
    await done(call('POST', DATABASE, { db: 'd04f' }));
    await done(call('DELETE', `${DATABASE}?db=d04f`));
    const [name = ''] = await deletedNames('d04f');
    for (const [text, rfc3339] of forms) {
      await call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=never`);
      await done(
        call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=${encodeURIComponent(text)}`),
      );
      const [row] = await ask(
        '_internal',
        `SELECT hard_deletion_time AS t FROM system.databases WHERE database_name = '${name}'`,
      );
      assert.equal(row?.['t'], rfc3339, text);
    }
    for (const text of ['2099-0102', '2099-1-2', '2099-01', '2099-01-02T03']) {
      const response = await call('DELETE', `${DATABASE}?db=${name}&hard_delete_at=${text}`);
      assert.equal(response.status, 400, text);
    }
  });

  it('D-05 lose their data when the time has come, for good', async () => {
    assertEmpty(await write(server, { db: 'd05' }, 'm v=1 1'));
    await done(call('DELETE', `${DATABASE}?db=d05&hard_delete_at=2001-01-01T00:00:00Z`));
    const [name = ''] = await deletedNames('d05');
    await refusedUndelete(name);
  });

  it('come back under their name by undelete (of our own)', async () => {
    assertEmpty(await write(server, { db: 'd06' }, 'm v=1 1'));
    await done(call('DELETE', `${DATABASE}?db=d06`));
    await done(call('POST', `${DATABASE}/undelete`, { db: 'd06' }));
    assert.deepEqual(await ask('d06', 'SELECT v FROM m'), [{ v: 1 }]);
    assertError(
      await call('POST', `${DATABASE}/undelete`, { db: 'd06' }),
      404,
      'the requested resource was not found: d06',
    );
    await done(call('DELETE', `${TABLE}?db=d06&table=m`));
    await done(call('POST', `${TABLE}/undelete`, { db: 'd06', table: 'm' }));
    assert.deepEqual(await ask('d06', 'SELECT v FROM m'), [{ v: 1 }]);
  });

  async function refusedUndelete(name: string): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const response = await call('POST', `${DATABASE}/undelete`, { db: name });
      if (response.status === 409) return;
      await sleep(50);
    }
    assert.fail('the data can still be restored');
  }
});

describe('tables', () => {
  it('D-02 are created with every type of field, and their database with them', async () => {
    const fields = ['utf8', 'int64', 'uint64', 'float64', 'bool'].map((type) => ({
      name: `f_${type}`,
      type,
    }));
    await done(call('POST', TABLE, { db: 't02', table: 'm', tags: ['b', 'a'], fields }));
    assert.deepEqual(await ask('t02', 'SELECT * FROM m'), []);
    assert.deepEqual(await ask('t02', 'SELECT key, data_type FROM system.influxdb_schema'), [
      { key: 'a', data_type: 'tag' },
      { key: 'b', data_type: 'tag' },
      { key: 'f_bool', data_type: 'boolean' },
      { key: 'f_float64', data_type: 'float' },
      { key: 'f_int64', data_type: 'integer' },
      { key: 'f_uint64', data_type: 'uinteger' },
      { key: 'f_utf8', data_type: 'string' },
      { key: 'time', data_type: 'time' },
    ]);
    assert.deepEqual(
      await ask(
        '_internal',
        "SELECT series_key_columns AS k, column_count AS n FROM system.tables WHERE database_name = 't02'",
      ),
      [{ k: 'b, a', n: 8 }],
    );
    await done(call('POST', TABLE, { db: 't02', table: 'bare', tags: [] }));
    assert.deepEqual(await ask('t02', 'SELECT * FROM bare'), []);
  });

  it('D-02 refuse what is wrong', async () => {
    const refuse = async (body: unknown, status: number, error: string) =>
      assertError(await call('POST', TABLE, body), status, error);
    await refuse({ db: 't02', tags: [] }, 400, 'serde json error: missing field `table`');
    await refuse({ db: 't02', table: 'x' }, 400, 'serde json error: missing field `tags`');
    await refuse(
      { db: 't02', table: 'x', tags: 'a' },
      400,
      'serde json error: invalid type for field `tags`: string "a", expected a sequence',
    );
    await refuse(
      { db: 't02', table: 'x', tags: [], fields: [{ name: 'f', type: 'Utf8' }] },
      400,
      'serde json error: unknown variant `Utf8`, expected one of `utf8`, `int64`, `uint64`, `float64`, `bool`',
    );
    await refuse({ db: 't02', table: '', tags: [] }, 400, 'table name cannot be empty');
    await refuse({ db: 't02', table: 'x', tags: [''] }, 400, 'column name cannot be empty');
    const long = 'ä'.repeat(524_289);
    const bound = 'name is longer than 1048576 bytes';
    await refuse({ db: 't02', table: 'a\0b', tags: [] }, 400, 'table name cannot contain NUL');
    await refuse({ db: 't02', table: long, tags: [] }, 400, `table ${bound}`);
    await refuse({ db: 't02', table: 'x', tags: [long] }, 400, `column ${bound}`);
    const fields = [{ name: long, type: 'int64' }];
    await refuse({ db: 't02', table: 'x', tags: [], fields }, 400, `column ${bound}`);
    await refuse({ db: 't02', table: 'x', tags: ['time'] }, 400, "'time' is a reserved column");
    await refuse(
      { db: 't02', table: 'x', tags: ['a', 'b', 'a'] },
      400,
      "column 'a' is specified twice",
    );
    await refuse(
      { db: '-', table: 'x', tags: [] },
      400,
      'db name did not start with a number or letter',
    );
    await refuse({ db: '_internal', table: 'x', tags: [] }, 403, 'cannot modify internal db');
    await refuse(
      { db: 't02', table: 'm', tags: [] },
      409,
      'attempted to create a resource that already exists',
    );
    const both = { db: 't02', table: 'x', tags: ['f'], fields: [{ name: 'f', type: 'int64' }] };
    assert.equal((await call('POST', TABLE, both)).status, 400);
    assertError(
      await server.http.send('/api/v3/query_sql?db=t02&q=SELECT+*+FROM+x'),
      400,
      "Error during planning: table 'public.iox.x' not found",
    );
  });

  it('D-03 are deleted alone', async () => {
    assertEmpty(await write(server, { db: 't03' }, 'm v=1 1\nn v=2 1'));
    await done(call('DELETE', `${TABLE}?db=t03&table=m`));
    assertError(
      await call('DELETE', `${TABLE}?db=t03&table=m`),
      404,
      'Table m not in DB schema for t03',
    );
    assertError(await call('DELETE', `${TABLE}?db=none&table=m`), 404, 'Database not found none');
    assertError(await call('DELETE', `${TABLE}?db=t03`), 400, 'serde error: missing field `table`');
    assert.deepEqual(await ask('t03', 'SELECT v FROM n'), [{ v: 2 }]);
    const [row] = await ask(
      '_internal',
      "SELECT table_name AS t FROM system.tables WHERE database_name = 't03' AND deleted",
    );
    assert.match(String(row?.['t']), /^m-\d{8}T\d{6}$/);
    assertEmpty(await write(server, { db: 't03' }, 'm w=1i 1'));
    assert.deepEqual(await ask('t03', 'SELECT w FROM m'), [{ w: 1 }]);
  });

  it('have a retention period of their own (of our own)', async () => {
    const nowSec = Math.floor(Date.now() / 1000);
    const lines = [`m v=1 ${nowSec - 7200}`, `m v=2 ${nowSec}`, `n v=1 ${nowSec - 7200}`];
    const options = { db: 't04', parameters: 'precision=s' };
    assertEmpty(await write(server, options, lines.join('\n')));
    await done(call('PUT', TABLE, { db: 't04', table: 'm', retention_period: '1h' }));
    assert.deepEqual(await ask('t04', 'SELECT v FROM m'), [{ v: 2 }]);
    assert.deepEqual(await ask('t04', 'SELECT v FROM n'), [{ v: 1 }]);
    await done(call('PUT', TABLE, { db: 't04', table: 'm' }));
    assert.equal((await ask('t04', 'SELECT v FROM m')).length, 2);
  });
});

describe('rows', () => {
  const remove = (body: unknown, parameters = 'bucket=r01') =>
    call('POST', `/api/v2/delete?org=o&${parameters}`, body);
  const years = { start: '1970-01-01T00:00:00Z', stop: '2100-01-01T00:00:00Z' };

  it('are deleted as version 2 documents it (of our own)', async () => {
    assertEmpty(
      await write(
        server,
        { db: 'r01', parameters: 'precision=s' },
        'm,t=a v=1 1\nm,t=b v=2 1\nm,t=a v=3 5\nn,t=a v=4 1',
      ),
    );
    assertEmpty(
      await remove({
        ...years,
        stop: '1970-01-01T00:00:03Z',
        predicate: '_measurement="m" AND t="a"',
      }),
    );
    assert.deepEqual(await ask('r01', 'SELECT t, v FROM m ORDER BY v'), [
      { t: 'b', v: 2 },
      { t: 'a', v: 3 },
    ]);
    assertEmpty(await remove({ ...years, predicate: "t = 'a'" }));
    assert.deepEqual(await ask('r01', 'SELECT t, v FROM m'), [{ t: 'b', v: 2 }]);
    assert.deepEqual(await ask('r01', 'SELECT v FROM n'), []);
    assertEmpty(await write(server, { db: 'r01', parameters: 'precision=s' }, 'm,t=a v=9 1'));
    assert.deepEqual(await ask('r01', 'SELECT t, v FROM m ORDER BY v'), [
      { t: 'b', v: 2 },
      { t: 'a', v: 9 },
    ]);
    assertEmpty(await remove(years));
    assert.deepEqual(await ask('r01', 'SELECT * FROM m'), []);
    assertEmpty(await remove({ ...years, predicate: '_measurement="nothing"' }));
  });

  it('are not deleted when the request is wrong', async () => {
    const refuse = async (body: unknown, status: number, error: RegExp, parameters?: string) => {
      const response = await remove(body, parameters);
      assert.equal(response.status, status, response.text);
      assert.match(String((JSON.parse(response.text) as { message: unknown }).message), error);
    };
    await refuse(years, 400, /missing bucket/, '');
    await refuse({ start: years.start }, 400, /RFC3339Nano for field stop/);
    await refuse({ start: years.stop, stop: years.start }, 400, /start must not be after stop/);
    const either = 't="a" OR t="b"';
    await refuse({ ...years, predicate: either }, 400, /unsupported logical operator 'OR'/);
    await refuse({ ...years, predicate: '_value=1' }, 400, /_value is not supported/);
    const two = '_field="v" AND _field="w"';
    await refuse(
      { ...years, predicate: two },
      400,
      /more than one _field; send one request for each value/,
    );
    await refuse({ ...years, predicate: 't=' }, 400, /expected tag/);
    const many = Array.from({ length: 2001 }, (_, index) => `t!="${index}"`).join(' AND ');
    await refuse({ ...years, predicate: many }, 400, /more than 2000 conditions/);
    const lines = Array.from({ length: 70 }, (_, index) => `kept${index},t=a v=1 1`).join('\n');
    assertEmpty(await write(server, { db: 'r01', parameters: 'precision=s' }, lines));
    const ofValue = (value: string) => ({ ...years, predicate: `t!="${value}"` });
    await refuse(ofValue('x'.repeat(9_600_000)), 400, /more than 1000000 characters/);
    for (const value of ['x'.repeat(999_000), '\\"'.repeat(499_000)]) {
      await refuse(
        ofValue(value),
        400,
        /too long to store for 7\d tables \(at most 67108864 bytes/,
      );
    }
    assert.equal((await ask('r01', 'SELECT v FROM kept6')).length, 1);
    for (const predicate of ['t=~/.*/', 't =~ /a b/', 't=~"r1"', 't!~/x/', '_measurement=~/m/']) {
      await refuse({ ...years, predicate }, 400, /regular expressions are not supported/);
    }
    await refuse(years, 404, /Database not found none/, 'bucket=none');
    await refuse(years, 403, /internal/, 'bucket=_internal');
    assertJson(await remove('x'), 400, {
      code: 'invalid',
      message: 'error decoding json body: expected an object',
      error: 'error decoding json body: expected an object',
      data: {},
    });
  });
});
