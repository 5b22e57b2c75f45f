// Source: webhooks, section 8.2, events of the server: `rate_limit` with `banned` and `unbanned`.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

it('a subscribed app receives the start and the end of a ban', async () => {
  await using receiver = await WebhookReceiver.start();
  const server = await ServerInProcess.start({
    flags: [
      '--services',
      'ratelimit,webhooks',
      '--without-auth',
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
  });
  try {
    await WebhookApp.register(server, { url: receiver.url, events: ['rate_limit'] });
    const ban = await server.http.send('/ops/v1/rate-limits/bans', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identity: 'user:7', duration_seconds: 600 }),
    });
    assert.equal(ban.status, 201, ban.text);
    await receiver.until('rate_limit', 1);
    const end = await server.http.send('/ops/v1/rate-limits/bans/user:7', { method: 'DELETE' });
    assert.equal(end.status, 204, end.text);
    const deliveries = await receiver.until('rate_limit', 2);
    const told = deliveries.map(({ body }) => JSON.parse(body));
    assert.deepEqual(
      told.map(({ action, identity }) => ({ action, identity })),
      [
        { action: 'banned', identity: 'user:7' },
        { action: 'unbanned', identity: 'user:7' },
      ],
    );
    assert.equal(told[0].level, 1);
    const nowSec = Date.now() / 1000;
    assert.ok(told[0].until > nowSec + 500 && told[0].until <= nowSec + 601, told[0].until);
  } finally {
    await server.close();
  }
});
