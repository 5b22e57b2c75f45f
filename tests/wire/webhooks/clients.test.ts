// Source: webhooks, sections 6.5 and 16.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { App, Octokit } from 'octokit';
import { Webhook } from 'standardwebhooks';
import {
  type ReceivedDelivery,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

let server: ServerInProcess;
let receiver: WebhookReceiver;
before(async () => {
  server = await startServer();
  receiver = await WebhookReceiver.start();
});
after(async () => {
  await receiver.close();
  await server.close();
});

async function startServer(...flags: string[]): Promise<ServerInProcess> {
  return await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
      ...flags,
    ],
  });
}

/** Delivers one event to a new app. */
async function deliver(
  webhook: object,
  event: string,
  payload: unknown,
): Promise<ReceivedDelivery> {
  const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'], ...webhook });
  const guid = await app.publish(event, { payload });
  for (let count = 1; ; count++) {
    const found = (await receiver.until(event, count)).find(
      ({ headers }) => headers['x-vendor-delivery'] === guid,
    );
    if (found !== undefined) return found;
  }
}

describe('the request of a delivery', () => {
  it('is verified by receivers of Standard Webhooks', async () => {
    const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
    const { headers, body } = await deliver({ secret, standard_webhooks: 'hmac' }, 'standard', {
      a: 1,
    });
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
    assert.deepEqual(verified, { a: 1 });
  });
});

describe('clients made for GitHub', () => {
  it('octokit manages the webhook of its app, and its receiver takes the deliveries', async () => {
    await using github = await startServer('--webhooks-vendor-name=GitHub');
    const webhooks = new Webhooks({ secret: 'shared' });
    const seen: string[] = [];
    webhooks.on('issues.opened', ({ id, payload }) => {
      seen.push(`${id} ${payload.issue.title}`);
    });
    const middleware = createNodeMiddleware(webhooks, { path: '/hook' });
    const listener = createServer((request, response) => {
      middleware(request, response).then(
        (isHandled) => isHandled || response.writeHead(404).end(),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/hook`;
    const registered = await WebhookApp.register(github, { url, events: ['issues'] });
    const app = new App({
      appId: registered.id,
      privateKey: registered.pem,
      webhooks: { secret: 'shared' },
      Octokit: Octokit.defaults({ baseUrl: `${github.url}/api/v3` }),
    });
    const { octokit } = app;
    const updated = await octokit.request('PATCH /app/hook/config', {
      data: { url, secret: 'shared', content_type: 'json' },
    } as never);
    assert.deepEqual(updated.data, {
      content_type: 'json',
      insecure_ssl: '0',
      secret: '********',
      url,
    });
    const config = await octokit.rest.apps.getWebhookConfigForApp();
    assert.equal(config.data.url, url);
    const guid = await registered.publish('issues', {
      action: 'opened',
      payload: { issue: { title: 'first' } },
      installation_id: 5,
    });
    await registered.untilRecorded('?event=issues', 1);
    assert.deepEqual(seen, [`${guid} first`]);
    const all = await octokit.paginate(octokit.rest.apps.listWebhookDeliveries, { per_page: 1 });
    assert.deepEqual(
      all.map(({ event }) => event),
      ['issues', 'ping'],
    );
    const id = all[0]?.id ?? 0;
    const { data } = await octokit.rest.apps.getWebhookDelivery({ delivery_id: id });
    assert.equal(data.guid, guid);
    assert.deepEqual([data.status, data.status_code, data.installation_id], ['OK', 200, 5]);
    const redelivered = await octokit.rest.apps.redeliverWebhookDelivery({ delivery_id: id });
    assert.equal(redelivered.status, 202);
    await registered.untilRecorded('?event=issues', 2);
    assert.deepEqual(seen, [`${guid} first`, `${guid} first`]);
    const whoAmI = await octokit.rest.apps.getAuthenticated();
    assert.equal(whoAmI.data?.id, registered.id);
    listener.close();
    listener.closeAllConnections();
  });
});
