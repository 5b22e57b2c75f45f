// Source: accounts, section 4: `plinth accounts`.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { AccountsServer } from '../../harness/index.js';

let server: AccountsServer;
before(async () => {
  server = await AccountsServer.start();
});
after(async () => await server.close());

const plinth = async (...args: string[]) =>
  await runCli(['accounts', ...args, '--host', server.process.url]);

it('manages platforms and keys, shows and closes accounts, ticks and rotates', async () => {
  const created = await plinth('platforms', 'create', '--name', 'Second', '--country', 'DE');
  assert.equal(created.code, 0, created.stderr);
  const platform = created.stdout.trim();
  assert.match(platform, /^plat_[0-9A-Za-z]{16}$/);
  const listed = await plinth('platforms', 'list');
  assert.match(listed.stdout, new RegExp(`${platform}\\s+Second\\s+DE\\s+ok`));
  const key = (await plinth('keys', 'create', '--platform', platform)).stdout.trim();
  assert.match(key, /^sk_test_[0-9A-Za-z]{40}$/);
  const account = await server.create({ display_name: 'Shown' }, { key });
  const table = await plinth('list', '--platform', platform);
  assert.match(table.stdout, new RegExp(`^id .*\n${account.id}\\s+Shown`));
  const shown = await plinth('show', account.id, '--platform', platform);
  assert.equal(JSON.parse(shown.stdout).account.display_name, 'Shown');
  const closed = await plinth('close', account.id, '--platform', platform);
  assert.equal(closed.code, 0, closed.stderr);
  assert.equal((await server.ok(`/v2/core/accounts/${account.id}`, { key })).closed, true);
  assert.match((await plinth('tick')).stderr, /^0 accounts evaluated$/m);
  assert.match((await plinth('rotate-key')).stderr, /^key k2 in use/m);
  const unknown = await plinth('show', 'acct_unknown');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /answered 404: No such account: acct_unknown/);
});
