// Source: rate-limits, sections 4.3 and 18.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess, StartFailed } from '../../harness/index.js';

const refused = async (flags: readonly string[], reason: RegExp): Promise<void> => {
  await assert.rejects(ServerInProcess.start({ flags: ['--without-auth', ...flags] }), (error) => {
    assert.ok(error instanceof StartFailed);
    assert.equal(error.code, 2);
    assert.match(error.message, reason);
    return true;
  });
};

it('rejects limits of a misspelled service at startup', async () => {
  const services = JSON.stringify({
    acounts: { enabled: true },
    gamedata: { resource: 'gmaedata' },
  });
  await refused(
    ['--rate-limit-services', services],
    /rate_limit\.services: unknown service acounts[\s\S]*rate_limit\.services: unknown resource gmaedata/,
  );
});

it('rejects an invalid Redis URL at startup, without showing its password', async () => {
  for (const url of ['http://:hidden@127.0.0.1:6379', 'redis:///', 'nonsense']) {
    await refused(
      ['--rate-limit-store', 'redis', '--rate-limit-redis-url', url],
      /--rate-limit-redis-url: expected text like `redis:\/\/127\.0\.0\.1:6379`, got (?!.*hidden)/,
    );
  }
});
