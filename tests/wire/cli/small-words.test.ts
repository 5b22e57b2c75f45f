// Source: `plinth --help` (exit codes), docs/COMMANDS.md: output for empty results and invalid arguments.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { SharedServer, temporaryFolder } from '../../harness/index.js';

let server: SharedServer;
const folder = await temporaryFolder();
before(async () => {
  server = await SharedServer.get();
});
after(() => server.close());
const run = (...args: string[]) => runCli([...args, '--host', server.url]);

it('a migration without a database is wrong usage, and an empty one is reported', async () => {
  const empty = join(folder, 'empty.txt');
  await writeFile(empty, '');
  for (const source of ['influxdb2', 'prometheus', 'graphite']) {
    const unnamed = await run('migrate', source, empty);
    assert.equal(unnamed.code, 2, unnamed.stderr);
    assert.match(unnamed.stderr, /no database given; use --database <name>/);
    const nothing = await run('migrate', source, '-d', 'home', empty);
    assert.equal(nothing.code, 0, nothing.stderr);
    assert.match(nothing.stderr, /empty\.txt: no points found/);
  }
});

it('an invalid limit is wrong usage', async () => {
  for (const limit of ['x', '0', '101', '1.5']) {
    const { code, stderr } = await run('deliveries', 'list', '--app', '1', '--limit', limit);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--limit <count>' argument '.*' is invalid. Use an integer from 1 to 100/);
  }
});

it('caches of both kinds are one CSV, and an empty list has a header', async () => {
  await run('database', 'create', 'none');
  const empty = await run('cache', 'list', '-d', 'none');
  assert.match(empty.stdout, /^kind {2}table {2}name {2}key_column_ids/);
  assert.doesNotMatch(empty.stdout, /\+\+/);
  for (const list of [
    ['trigger', 'list', '-d', 'none'],
    ['plugin', 'list'],
  ])
    assert.match((await run(...list)).stdout, /^\w+(?: {2}\w+)+\n$/);
  await server.http.send('/api/v3/write_lp?db=small', { method: 'POST', body: 'm,t=a v=1' });
  for (const kind of ['last', 'distinct'])
    await run('cache', 'create', '-d', 'small', '--kind', kind, '--table', 'm', '--columns', 't');
  const { stdout } = await run('cache', 'list', '-d', 'small', '-f', 'csv');
  const [header = '', ...rows] = stdout.trimEnd().split('\n');
  assert.deepEqual(
    rows.map((row) => row.split(',').slice(0, 2)),
    [
      ['last', 'm'],
      ['distinct', 'm'],
    ],
  );
  for (const row of rows) assert.equal(row.split(',').length, header.split(',').length);
});

it('nodes as JSON are an array, like other lists', async () => {
  for (const format of [['--format', 'json'], ['--format=json']]) {
    const [node] = JSON.parse((await run('show', 'nodes', ...format)).stdout) as object[];
    assert.equal(Reflect.get(Object(node), 'state'), 'running');
  }
});

it('a file without a certificate is refused with a clear message', async () => {
  const file = join(folder, 'key.pem');
  await writeFile(file, '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n');
  const { code, stderr } = await run('status', '--tls-ca', file);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /--tls-ca: no PEM certificate found in .*key\.pem/);
});

it('reports the setting that lets the server deliver to this machine', async () => {
  const { code, stderr } = await run('webhook', 'listen', '--port', '0', '--events', 'push');
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /webhooks\.allow_private_targets must allow this target: start the server with/,
  );
  assert.match(stderr, /^ {2}--webhooks-allow-private-targets 127\.0\.0\.1$/m);
});
