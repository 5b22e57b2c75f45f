// Source: tsdb-http, "Limits", "Line failures", "Request-level failures".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  assertJson,
  badLine,
  refusal,
  rows,
  ServerInProcess,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

let server: ServerInProcess;
const FLAGS = [
  '--without-auth',
  ...['--num-database-limit', '4'],
  ...['--num-table-limit', '6'],
  ...['--num-total-columns-per-table-limit', '3'],
];
before(async () => {
  server = await ServerInProcess.start({ flags: FLAGS });
});
after(async () => await server.close());

const COLUMNS = 'Update to schema would exceed number of columns per table limit of 3 columns';
const tooManyTables = (count: number) =>
  `Update to schema would exceed number of tables limit: attempted to create table but already have ${count} table(s) (limit: 6)`;
const OVER = { code: 'unprocessable entity' };

describe('the limit of columns of a table', () => {
  it('W-10 counts tags and fields, not time', async () => {
    assertEmpty(await write(server, { db: 'a' }, 'm,t=1 f=1,g=1 1'));
    for (const api of WRITE_APIS) {
      for (const line of ['m h=1 2', 'm,u=1 f=1 2']) {
        const response = await write(server, { api, db: 'a' }, line);
        assertJson(response, 422, refusal(api, [badLine(line, 1, COLUMNS)], OVER));
      }
    }
    assertEmpty(await write(server, { db: 'a' }, 'm,t=2 f=2,g=2 2'));
  });

  it('W-10 is told with 422 when other lines are written', async () => {
    const response = await write(server, { db: 'a' }, 'm,t=3 f=3 3\nm h=1 3\nm f=hi 3');
    const data = [
      badLine('m h=1 3', 2, COLUMNS),
      badLine('m f=hi 3', 3, 'No fields were provided'),
    ];
    assertJson(response, 422, refusal('write_lp', data, { isPartial: true }));
    assert.deepEqual(await rows(server, 'a', "SELECT f FROM m WHERE t = '3'"), [{ f: 3 }]);
  });

  it('W-10 is told with 400 when the request accepts no part', async () => {
    for (const api of WRITE_APIS) {
      const to = { api, db: 'a', parameters: 'accept_partial=false&precision=ns' };
      const response = await write(server, to, 'm f=1 4\nm h=1 4');
      assertJson(response, 400, refusal(api, [badLine('m h=1 4', 2, COLUMNS)]));
    }
  });
});

describe('the limit of tables', () => {
  it('W-10 counts over all databases, and lets existing tables grow', async () => {
    assertEmpty(await write(server, { db: 'a' }, 'n f=1 1\no f=1 1'));
    const response = await write(
      server,
      { db: 'b' },
      'p f=1 1\nq f=1 1\nr f=1 1\ns f=1 1\np g=2 1\nt f=1 1',
    );
    const data = [badLine('s f=1 1', 4, tooManyTables(6)), badLine('t f=1 1', 6, tooManyTables(6))];
    assertJson(response, 422, refusal('write_lp', data, { isPartial: true }));
    assert.deepEqual(await rows(server, 'b', 'SELECT f, g FROM p'), [{ f: 1, g: 2 }]);
    assertEmpty(await write(server, { db: 'a' }, 'o g=1 2'));
    for (const api of WRITE_APIS) {
      const alone = await write(server, { api, db: 'a' }, 's f=1 1');
      assertJson(alone, 422, refusal(api, [badLine('s f=1 1', 1, tooManyTables(6))], OVER));
    }
  });
});

describe('the limit of databases', () => {
  it('W-10 counts those that writes made, the own one of the server not', async () => {
    // `a` and `b` exist. The table limit is reached, but an accepted request still creates its database.
    assert.equal((await write(server, { db: 'c' }, 'm f=1 1')).status, 422);
    assert.equal((await write(server, { db: 'd' }, 'm f=1 1')).status, 422);
    const error = 'Adding a new database would exceed limit of 4 databases';
    assertError(await write(server, { db: 'e' }, 'm f=1 1'), 422, error);
    assertError(await write(server, { api: 'v1', db: 'e' }, 'm f=1 1'), 422, error);
    const v2 = { code: 'invalid', message: error, error, data: {} };
    assertJson(await write(server, { api: 'v2', db: 'e' }, 'm f=1 1'), 400, v2);
    assert.deepEqual(await rows(server, 'c', 'SELECT 1 AS one'), [{ one: 1 }]);
  });

  it('W-10 holds after a restart', async () => {
    const { dataDir } = server;
    await server.stop();
    server = await ServerInProcess.start({ dataDir, flags: FLAGS });
    const error = 'Adding a new database would exceed limit of 4 databases';
    assertError(await write(server, { db: 'e' }, 'm f=1 1'), 422, error);
    assertJson(
      await write(server, { db: 'c' }, 'm f=1 1'),
      422,
      refusal('write_lp', [badLine('m f=1 1', 1, tooManyTables(6))]),
    );
    assertEmpty(await write(server, { db: 'a' }, 'm,t=9 f=9 9'));
  });
});
