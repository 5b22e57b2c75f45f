// Source: `plinth limits --help`, `plinth identity --help`; rate-limits, sections 3.2 and 12.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { Platform, PROBE } from '../ratelimit/platform.js';

it('the command line registers identities, creates tokens, shows limits, bans and unbans', async () => {
  await using platform = await Platform.start();
  const run = async (...args: string[]) => {
    const at = ['--host', platform.server.url, '--token', platform.admin];
    return await runCli([...args, ...at]);
  };
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return { stdout, stderr };
  };
  const made = await ok('identity', 'create', 'user', '--id', '1', '--set', 'plan=free');
  assert.equal(JSON.parse(made.stdout).key, 'user:1');
  const set = 'overrides={"core":{"limit":2,"window":60}}';
  const changed = await ok('identity', 'update', 'user:1', '--set', set);
  assert.deepEqual(JSON.parse(changed.stdout).overrides, { core: { limit: 2, window: 60 } });

  const token = (await ok('token', 'create', '--kind', 'personal', '--user', '1')).stdout.trim();
  assert.match(token, /^plp_[0-9A-Za-z]{36}$/);
  const probe = async () => (await platform.send(PROBE, `token ${token}`)).status;
  assert.equal(await probe(), 200);

  const shown = (await ok('limits', 'show', 'user:1')).stdout;
  assert.match(shown, /^core +1 +1 +2 /m);
  const passes = await ok('limits', 'check', '--identity', 'user:1');
  assert.match(passes.stdout, /^allowed \(200\)\nx-ratelimit-limit +2$/m);
  const charged = await ok('limits', 'check', '--identity', 'user:1', '--charge');
  assert.match(charged.stdout, /^x-ratelimit-remaining +0$/m);
  const refused = await run('limits', 'check', '--identity', 'user:1');
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^rejected by limit "primary" \(403\)$/m);
  assert.match((await ok('limits', 'top')).stdout, /^user:1 +2$/m);
  assert.match(
    (await ok('limits', 'routes')).stdout,
    /^ratelimit +GET +\/rate_limit +core +0 +1 /m,
  );

  await ok('limits', 'reset', 'user:1');
  assert.equal(await probe(), 200);
  await ok('limits', 'ban', 'user:1', '--for', '1h');
  assert.equal(await probe(), 403);
  assert.match((await ok('ratelimit', 'bans')).stdout, /^user:1 +\d{4}-\d\d-\d\dT/m);
  await ok('ratelimit', 'unban', 'user:1');
  assert.equal(await probe(), 200);

  await ok('identity', 'delete', 'user:1');
  assert.equal(await probe(), 401);
  const gone = await run('identity', 'show', 'user:1');
  assert.deepEqual([gone.code, /404: Not Found/.test(gone.stderr)], [1, true]);
  const wrong = await run('identity', 'token', '--kind', 'personal', '--identity', 'repo:1');
  assert.match(wrong.stderr, /422: Validation Failed \(identity: invalid\)/);
});
