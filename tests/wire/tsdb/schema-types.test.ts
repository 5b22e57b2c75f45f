// Source: tsdb-http, "Tables and columns", "Type conflicts".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  assertJson,
  badLine,
  type OwnServer,
  query,
  refusal,
  rows,
  ServerInProcess,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

let process: ServerInProcess;
let server: OwnServer;
before(async () => {
  process = await ServerInProcess.start();
  server = process;
});
after(async () => await server.close());

/** For each type, a line that gives column `c` this type; all lines have the field `g`. */
const LINES: Readonly<Record<string, string>> = {
  'iox::column_type::tag': 'm,c=x g=1 1',
  'iox::column_type::field::float': 'm c=1,g=1 1',
  'iox::column_type::field::integer': 'm c=1i,g=1 1',
  'iox::column_type::field::uinteger': 'm c=1u,g=1 1',
  'iox::column_type::field::string': 'm c="1",g=1 1',
  'iox::column_type::field::boolean': 'm c=t,g=1 1',
};

const conflict = (column: string, expected: string, got: string) =>
  `invalid column type for column '${column}', expected ${expected}, got ${got}`;
const FLOAT = 'iox::column_type::field::float';
const INTEGER = 'iox::column_type::field::integer';
const STRING = 'iox::column_type::field::string';
const TAG = 'iox::column_type::tag';
const tablesOf = (db: string) =>
  rows(
    server,
    db,
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY 1",
  );
const columnsOf = async (db: string, table: string) =>
  (await query(server, { db, q: `DESCRIBE "${table}"`, format: 'csv' })).split('\n').slice(1, -1);

describe('the type of a column', () => {
  it('S-01 is fixed by the first write, for every pair of kinds and every endpoint', async () => {
    let count = 0;
    for (const [first, firstLine] of Object.entries(LINES)) {
      const db = `pair${count++}`;
      assertEmpty(await write(server, { db }, firstLine));
      for (const [second, secondLine] of Object.entries(LINES)) {
        for (const api of WRITE_APIS) {
          const response = await write(server, { api, db }, secondLine);
          if (first === second) assertEmpty(response);
          else {
            const line = badLine(secondLine, 1, conflict('c', first, second));
            assertJson(response, 400, refusal(api, [line]));
          }
        }
      }
    }
  });

  it('S-01 is fixed by earlier lines of one request', async () => {
    const body = 'm c=1i 1\nm c=1 2\nm c=2i 3\nm,c=x f=1 4';
    assertJson(
      await write(server, { db: 'batch' }, body),
      400,
      refusal(
        'write_lp',
        [
          badLine('m c=1 2', 2, conflict('c', INTEGER, FLOAT)),
          badLine('m,c=x f=1 4', 4, conflict('c', INTEGER, TAG)),
        ],
        { isPartial: true },
      ),
    );
    assert.deepEqual(await rows(server, 'batch', 'SELECT c FROM m ORDER BY c'), [
      { c: 1 },
      { c: 2 },
    ]);
  });

  it('S-01 is one per table and per database', async () => {
    assertEmpty(await write(server, { db: 'one' }, 'm c=1 1\nn c=1i 1\nM c="x" 1\nm C=t 1'));
    assertEmpty(await write(server, { db: 'two' }, 'm c=t 1'));
  });

  it('S-01 is the same after a restart', async () => {
    const { dataDir } = server;
    assertEmpty(await write(server, { db: 'restart' }, 'm,c=x f=1i 1'));
    await process.kill();
    server = await ServerInProcess.start({ dataDir });
    const lines = 'm c=1 2\nm,c=y f=1 2\nm,c=y f=2i 2';
    assertJson(
      await write(server, { db: 'restart' }, lines),
      400,
      refusal(
        'write_lp',
        [
          badLine('m c=1 2', 1, conflict('c', TAG, FLOAT)),
          badLine('m,c=y f=1 2', 2, conflict('f', INTEGER, FLOAT)),
        ],
        { isPartial: true },
      ),
    );
    assert.deepEqual(await rows(server, 'restart', 'SELECT c, f FROM m ORDER BY f'), [
      { c: 'x', f: 1 },
      { c: 'y', f: 2 },
    ]);
  });
});

describe('a refused line', () => {
  it('S-01 leaves no column, no tag and no table', async () => {
    assertEmpty(await write(server, { db: 'trace' }, 'm c=1 1'));
    const body = 'm,newtag=a newfield=1,c="x" 1\nm,newtag=a c=2,other=1i 2\nnewtable f=hi 1';
    const lines = body.split('\n');
    const response = await write(server, { db: 'trace' }, body);
    const data = [
      badLine(lines[0] ?? '', 1, conflict('c', FLOAT, STRING)),
      badLine(lines[2] ?? '', 3, 'No fields were provided'),
    ];
    assertJson(response, 400, refusal('write_lp', data, { isPartial: true }));
    assert.deepEqual(await tablesOf('trace'), [{ table_name: 'm' }]);
    assert.deepEqual(await columnsOf('trace', 'm'), [
      'c,Float64,YES',
      'newtag,"Dictionary(Int32, Utf8)",YES',
      'other,Int64,YES',
      'time,"Timestamp(Nanosecond, None)",NO',
    ]);
    // The name is still available for another type.
    assertEmpty(await write(server, { db: 'trace' }, 'm newfield="text" 3'));
  });

  it('S-01 leaves no trace of its whole request when that accepts no part', async () => {
    assertEmpty(await write(server, { db: 'whole' }, 'm c=1 1'));
    for (const api of WRITE_APIS) {
      const to = { api, db: 'whole', parameters: 'precision=ns&accept_partial=false' };
      const response = await write(server, to, 'm,t=a c=2,d=1 2\nn f=1 1\nm c=1i 3');
      const line = badLine('m c=1i 3', 3, conflict('c', FLOAT, INTEGER));
      assertJson(response, 400, refusal(api, [line]));
      const fresh = await write(server, { ...to, db: 'never' }, 'm c=1 1\nm c=1i 1');
      assertJson(fresh, 400, refusal(api, [badLine('m c=1i 1', 2, conflict('c', FLOAT, INTEGER))]));
    }
    assert.deepEqual(await tablesOf('whole'), [{ table_name: 'm' }]);
    assert.deepEqual(await columnsOf('whole', 'm'), [
      'c,Float64,YES',
      'time,"Timestamp(Nanosecond, None)",NO',
    ]);
    assert.deepEqual(await rows(server, 'whole', 'SELECT count(*) AS n FROM m'), [{ n: 1 }]);
    assertError(
      await server.http.send('/api/v3/query_sql?db=never&q=SELECT%201'),
      404,
      'query error: database not found: never',
    );
  });
});
