// Source: docs/INFLUXDB-1-USERS.md, "Manage users": all privileges are all data and all statements, not what belongs to the operator.
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FlightClient } from '../../harness/flight-client.js';
import { type HttpResponse, ServerInProcess, temporaryFolder } from '../../harness/index.js';
import { ANY_TYPE, noPython, TRIGGER } from './plugin-server.js';

type Headers = Readonly<Record<string, string>>;

const SECRET = 'key-of-another-service';
const OPERATOR_TABLES: readonly (readonly [db: string, table: string])[] = [
  ['_internal', 'tokens'],
  ['_internal', 'audit'],
  ['_internal', 'plugin_files'],
  ['mine', 'processing_engine_triggers'],
  ['mine', 'processing_engine_trigger_arguments'],
  ['mine', 'processing_engine_logs'],
];
const basic: Headers = { authorization: `Basic ${Buffer.from('root:r').toString('base64')}` };

let server: ServerInProcess;
let admin: Headers = {};
let flight: FlightClient;
const plugins = await temporaryFolder();
before(async () => {
  await writeFile(join(plugins, 'any.py'), `${ANY_TYPE}\n`);
  server = await ServerInProcess.start({ flags: ['--plugin-dir', plugins] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = { authorization: `Bearer ${JSON.parse(made.text).token}` };
  await server.http.send('/write?db=mine', { headers: admin, body: 'm v=1 1' });
  await post('/api/v3/enterprise/configure/token', {
    token_name: 'of-somebody',
    permissions: [{ resource_type: 'db', resource_identifier: ['mine'], actions: ['read'] }],
  });
  const q = "CREATE USER root WITH PASSWORD 'r' WITH ALL PRIVILEGES";
  const created = await server.http.send(`/query?${new URLSearchParams({ q })}`, {
    method: 'POST',
    headers: admin,
  });
  assert.equal(created.status, 200, created.text);
  flight = new FlightClient(server.url);
});
after(async () => {
  flight.close();
  await server.close();
});

const post = (path: string, body: object, headers = admin): Promise<HttpResponse> =>
  server.http.send(path, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
async function rows(db: string, table: string, headers: Headers): Promise<readonly unknown[]> {
  const q = `SELECT * FROM system.${table}`;
  const response = await post('/api/v3/query_sql', { db, q, format: 'json_rows' }, headers);
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text);
}

describe('a user with all privileges', () => {
  it('reads and changes all databases', async () => {
    const body = { db: 'mine', q: 'SELECT v FROM m', format: 'csv' };
    assert.equal((await post('/api/v3/query_sql', body, basic)).text, 'v\n1.0\n');
    assert.equal((await rows('_internal', 'databases', basic)).length, 2);
  });

  it('sees no tokens of others and no audit log', async () => {
    for (const table of ['tokens', 'audit']) {
      assert.deepEqual(await rows('_internal', table, basic), [], table);
      assert.notEqual((await rows('_internal', table, admin)).length, 0, table);
    }
  });

  it('sees no plugins, triggers or their arguments', { skip: noPython }, async () => {
    const trigger = {
      ...{ db: 'mine', plugin_filename: 'any.py', trigger_name: 't' },
      ...{ trigger_specification: 'request:t', trigger_settings: {}, disabled: false },
      trigger_arguments: { key: SECRET },
    };
    const made = await post(TRIGGER, trigger);
    assert.equal(made.status, 200, made.text);
    assert.match(
      JSON.stringify(await rows('mine', 'processing_engine_trigger_arguments', admin)),
      new RegExp(SECRET),
    );
    for (const [db, table] of OPERATOR_TABLES) {
      assert.deepEqual(await rows(db, table, basic), [], table);
    }
    const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1');
      assert.ok(!bytes.includes(SECRET), file.name);
    }
  });

  it('sees none of it by Flight either', async () => {
    for (const [database, table] of OPERATOR_TABLES) {
      const ticket = { database, sql_query: `SELECT * FROM system.${table}`, query_type: 'sql' };
      const found = await flight.table(Buffer.from(JSON.stringify(ticket)), { metadata: basic });
      assert.equal(found.numRows, 0, table);
    }
  });

  it('is refused by the operator routes', async () => {
    for (const path of ['/ops/v1/tsdb/queries', '/ops/v1/routes']) {
      assert.equal((await server.http.send(path, { headers: basic })).status, 403, path);
    }
  });
});
