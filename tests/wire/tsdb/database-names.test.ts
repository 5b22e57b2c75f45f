// Source: tsdb-http, "Database names", "Common failures".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  assertJson,
  rows,
  SharedServer,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => await server.close());

describe('the name of a database', () => {
  it('W-09 has letters, digits, underscores, hyphens and at most one slash', async () => {
    for (const db of ['0', 'a-b_C9', 'a/b', 'x'.repeat(64)]) {
      for (const api of WRITE_APIS) assertEmpty(await write(server, { api, db }, 'm f=1'));
    }
    assertEmpty(await write(server, { db: `${'x'.repeat(255)}/${'y'.repeat(255)}` }, 'm f=1'));
  });

  it('W-09 is refused with what is wrong with it', async () => {
    const character =
      'invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens';
    const policy =
      "db name with invalid retention policy, if providing a retention policy name, must be of form '<db_name>/<rp_name>'";
    const start = 'db name did not start with a number or letter';
    const faults: readonly (readonly [db: string, error: string])[] = [
      ['', 'db name cannot be empty'],
      ['_x', start],
      ['-x', start],
      ['/x', start],
      ['é', start],
      ['a b', character],
      ['a.b', character],
      ['aé', character],
      ['a\0', character],
      ['a/b/c', policy],
      ['a/', policy],
      ['x'.repeat(512), 'db name too long: max 511'],
    ];
    for (const [db, error] of faults) {
      assertError(await write(server, { db }, 'm f=1'), 400, error);
    }
  });

  it('W-09 cannot be that of the own database of the server', async () => {
    const error = 'cannot modify internal db';
    assertError(await write(server, { db: '_internal' }, 'm f=1'), 403, error);
    assertError(await write(server, { api: 'v1', db: '_internal' }, 'm f=1'), 403, error);
    const v2 = { code: 'forbidden', message: error, error, data: {} };
    assertJson(await write(server, { api: 'v2', db: '_internal' }, 'm f=1'), 403, v2);
    assert.deepEqual(await rows(server, '_internal', 'SELECT 1 AS one'), [{ one: 1 }]);
  });
});
