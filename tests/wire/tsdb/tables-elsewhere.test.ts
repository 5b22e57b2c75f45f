// Source: docs/MIGRATE.md; docs/spec/tsdb-http.md, "Native query endpoints".
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { SharedServer } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
  await server.http.send('/write?db=elsewhere&rp=weekly', { method: 'POST', body: 'm v=1 1000' });
  await server.http.send('/write?db=elsewhere', { method: 'POST', body: 'n v=2 1000' });
});
after(async () => await server.close());

const ask = async (path: string, query: Record<string, string>) =>
  await server.http.send(`${path}?${new URLSearchParams(query)}`);

it('rp= names the retention policy of a native InfluxQL query, in the URL and in JSON', async () => {
  const q = 'SELECT v FROM m';
  const asked = await ask('/api/v3/query_influxql', {
    db: 'elsewhere',
    rp: 'weekly',
    q,
    format: 'jsonl',
  });
  assert.match(asked.text, /"v":1.0/);
  const json = await server.http.send('/api/v3/query_influxql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ db: 'elsewhere', rp: 'weekly', q, format: 'jsonl' }),
  });
  assert.equal(json.text, asked.text);
  // A policy named in the statement takes precedence.
  const named = await ask('/api/v3/query_influxql', {
    db: 'elsewhere',
    rp: 'weekly',
    q: 'SELECT v FROM autogen.n',
    format: 'jsonl',
  });
  assert.match(named.text, /"v":2.0/);
  const unknown = await ask('/api/v3/query_influxql', { db: 'elsewhere', rp: 'daily', q });
  assert.equal(unknown.status, 404);
});

it('SQL says where a table is that lies in another policy of its database', async () => {
  const here = await ask('/api/v3/query_sql', { db: 'elsewhere', q: 'SELECT v FROM m' });
  assert.equal(
    here.text,
    `{"error":"Error during planning: table 'public.iox.m' not found; a table with this name exists in database 'elsewhere/weekly'","data":{}}`,
  );
  const back = await ask('/api/v3/query_sql', { db: 'elsewhere/weekly', q: 'SELECT v FROM n' });
  assert.match(back.text, /not found; a table with this name exists in database 'elsewhere'/);
  const nowhere = await ask('/api/v3/query_sql', { db: 'elsewhere', q: 'SELECT v FROM nowhere' });
  assert.match(nowhere.text, /table 'public\.iox\.nowhere' not found"/);
});

it('lists of the command line say where further tables are', async () => {
  const args = ['--host', server.url, '-d', 'elsewhere'];
  const listed = await runCli(['table', 'list', ...args]);
  assert.match(listed.stderr, /^more tables in elsewhere\/weekly; use --database to list them$/m);
  const shown = await runCli(['query', ...args, '-l', 'influxql', 'SHOW MEASUREMENTS']);
  assert.match(shown.stderr, /more tables in elsewhere\/weekly/);
  const asked = await runCli(['query', ...args, 'SELECT v FROM n']);
  assert.equal(asked.stderr, '');
});
