// Source: `plinth app --help`, `plinth accounts --help`: items are given by id or by a unique name.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { SharedServer, temporaryFolder } from '../../harness/index.js';

let server: SharedServer;
let folder: string;
before(async () => {
  folder = await temporaryFolder();
  server = await SharedServer.get();
});
after(() => server.close());

const run = (...args: string[]) => runCli([...args, '--host', server.url]);
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}
let keyCount = 0;
async function makeApp(name: string): Promise<{ id: number; client_id: string }> {
  const out = join(folder, `${keyCount++}.pem`);
  return JSON.parse(await ok('app', 'create', '--name', name, '--key-out', out));
}
const shown = async (said: string): Promise<number> =>
  (JSON.parse(await ok('app', 'show', said)) as { id: number }).id;

it('accepts an app id, client id or name', async () => {
  const ci = await makeApp('ci');
  for (const said of [String(ci.id), ci.client_id, 'ci']) assert.equal(await shown(said), ci.id);
  await ok('app', 'update', 'ci', '--name', 'ci two');
  assert.equal(await shown('ci two'), ci.id);
  await ok('app', 'suspend', 'ci two');
  await ok('app', 'unsuspend', 'ci two');

  const unknown = await run('app', 'delete', 'nobody');
  assert.equal(
    unknown.stderr,
    'plinth: app "nobody" not found; list the apps with `plinth app list`\n',
  );
  assert.equal(unknown.code, 1);

  // An id takes precedence over an equal name.
  const named = await makeApp(String(ci.id));
  assert.equal(await shown(String(ci.id)), ci.id);
  assert.equal(await shown(String(named.id)), named.id);
});

it('accepts app names in options', async () => {
  await makeApp('publisher');
  const publish = ['event', 'publish', '--event', 'push', '--payload', '-', '--app', 'publisher'];
  const { code, stderr } = await runCli([...publish, '--host', server.url], { input: '{}' });
  assert.equal(code, 0, stderr);
  assert.match(await ok('deliveries', 'list', '--app', 'publisher'), /^id +delivered_at/);
  assert.match(await ok('webhook', 'deliveries', 'publisher'), /^id +delivered_at/);
});

it('accepts names of platforms and accounts, and refuses an ambiguous name', async () => {
  const platform = (await ok('accounts', 'platforms', 'create', '--name', 'Second one')).trim();
  const onIt = ['--platform', 'Second one'];
  const key = (await ok('accounts', 'keys', 'create', ...onIt)).trim();
  const make = async (display_name: string, contact_email: string): Promise<string> => {
    const { status, text } = await server.http.send('/v2/core/accounts', {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ display_name, contact_email }),
    });
    assert.equal(status, 200, text);
    return (JSON.parse(text) as { id: string }).id;
  };
  const idOf = async (said: string): Promise<string> =>
    (JSON.parse(await ok('accounts', 'show', said, ...onIt)) as { account: { id: string } }).account
      .id;
  const alone = await make('Alone', 'alone@example.com');
  assert.equal(await idOf('Alone'), alone);
  assert.equal(await idOf('alone@example.com'), alone);
  const twins = [await make('Twin', 'a@example.com'), await make('Twin', 'b@example.com')];
  const refused = await run('accounts', 'close', 'Twin', ...onIt);
  assert.match(
    refused.stderr,
    /^plinth: account name "Twin" is not unique \(2 matches\); use an id: acct_/,
  );
  for (const id of twins) assert.ok(refused.stderr.includes(id), refused.stderr);
  await ok('accounts', 'close', 'b@example.com', ...onIt);
  assert.equal(await idOf('Twin'), twins[0]); // A closed account does not count.
  assert.equal(
    (JSON.parse(await ok('accounts', 'platforms', 'show', 'Second one')) as { id: string }).id,
    platform,
  );
});
