// Source: webhooks, sections 6.3 to 6.5 and 16.
import assert from 'node:assert/strict';
import { createHmac, createPublicKey, verify as verifyBytes } from 'node:crypto';
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
  it('is signed over the exact bytes of its body, in both content types', async () => {
    const payload = { action: 'opened', note: 'a b&c' };
    const json = await deliver({ secret: 's3cret' }, 'issues', payload);
    assert.equal(json.body, '{"action":"opened","note":"a b&c"}');
    assert.equal(
      json.headers['x-hub-signature-256'],
      'sha256=7c96a1d02a12fd4cebfa522486336fac58b0d9fd55998711a67fba2cbda6b737',
    );
    assert.equal(json.headers['x-hub-signature'], 'sha1=eb760e7398be762bbc59f2197981c4224a24374f');
    const form = await deliver({ secret: 's3cret', content_type: 'form' }, 'forms', payload);
    assert.equal(
      form.body,
      'payload=%7B%22action%22%3A%22opened%22%2C%22note%22%3A%22a+b%26c%22%7D',
    );
    assert.equal(form.headers['content-type'], 'application/x-www-form-urlencoded');
    assert.equal(
      form.headers['x-hub-signature-256'],
      'sha256=402a05247408bdf03d93d33eeca4977a652356b6f062161c3563ae250feb648c',
    );
    const unsigned = await deliver({}, 'plain', payload);
    assert.equal(unsigned.headers['x-hub-signature-256'], undefined);
    assert.equal(unsigned.headers['x-hub-signature'], undefined);
  });

  it('has the documented headers in their spelling, and the bytes of the payload', async () => {
    const { rawHeaders, headers, method } = await deliver(
      { secret: 'x', custom_headers: { 'X-Mine': 'yes' } },
      'spelled',
      {},
    );
    assert.equal(method, 'POST');
    for (const name of [
      'Accept',
      'Content-Type',
      'User-Agent',
      'X-Vendor-Delivery',
      'X-Vendor-Event',
      'X-Vendor-Hook-ID',
      'X-Vendor-Hook-Installation-Target-ID',
      'X-Vendor-Hook-Installation-Target-Type',
      'X-Hub-Signature',
      'X-Hub-Signature-256',
      'X-Mine',
    ]) {
      assert.ok(rawHeaders.includes(name), name);
    }
    assert.match(String(headers['user-agent']), /^Vendor-Hookshot\/[0-9a-f]{7}$/);
    assert.equal(headers['x-vendor-hook-installation-target-type'], 'integration');
    assert.match(
      String(headers['x-vendor-delivery']),
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.ok(headers['content-length']);
    assert.equal(headers['transfer-encoding'], undefined);
    assert.equal(headers['accept-encoding'], undefined);
  });

  it('keeps digits and spelling of the payload, without the white space', async () => {
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    const text = `{"event":"digits","app_id":${app.id},"action":"a",
      "payload": { "big" : 12345678901234567890, "f": 1.0, "e":1e2, "u":"\\u00e9 \\"q\\" é", "l":[ 1 , {} ] } }`;
    const answer = await server.http.send('/ops/v1/events', { body: text });
    assert.equal(answer.status, 202, answer.text);
    const [received] = await receiver.until('digits', 1);
    assert.equal(
      received?.body,
      '{"action":"a","big":12345678901234567890,"f":1.0,"e":1e2,"u":"\\u00e9 \\"q\\" é","l":[1,{}]}',
    );
  });

  it('is verified by receivers of Standard Webhooks', async () => {
    const secret = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
    const { headers, body } = await deliver({ secret, standard_webhooks: 'hmac' }, 'standard', {
      a: 1,
    });
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
    assert.deepEqual(verified, { a: 1 });
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      standard_webhooks: 'ed25519',
    });
    const shown = JSON.parse((await app.operate('GET', '')).text) as {
      hook: { standard_webhooks_public_key: string };
    };
    await app.publish('asymmetric');
    const [signed] = await receiver.until('asymmetric', 1);
    const key = createPublicKey({
      key: {
        kty: 'OKP',
        crv: 'Ed25519',
        x: Buffer.from(
          shown.hook.standard_webhooks_public_key.replace('whpk_', ''),
          'base64',
        ).toString('base64url'),
      },
      format: 'jwk',
    });
    const text = `${signed?.headers['webhook-id']}.${signed?.headers['webhook-timestamp']}.${signed?.body}`;
    const signature = String(signed?.headers['webhook-signature']).replace('v1a,', '');
    assert.ok(verifyBytes(null, Buffer.from(text), key, Buffer.from(signature, 'base64')));
  });
});

describe('the ping', () => {
  it('comes when an app is registered with a URL, and when the operator asks', async () => {
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      secret: 'pong',
      events: ['issues'],
    });
    const mine = () =>
      receiver.of('ping').filter(({ body }) => body.includes(`"app_id":${app.id},`));
    while (mine().length < 1) await receiver.until('ping', receiver.of('ping').length + 1);
    const ping = JSON.parse(mine()[0]?.body ?? '') as {
      zen: string;
      hook_id: number;
      hook: Record<string, unknown>;
    };
    assert.equal(typeof ping.zen, 'string');
    assert.equal(ping.hook_id, ping.hook['id']);
    assert.deepEqual(ping.hook['config'], {
      content_type: 'json',
      insecure_ssl: '0',
      secret: '********',
      url: receiver.url,
    });
    assert.deepEqual([ping.hook['type'], ping.hook['name']], ['App', 'web']);
    assert.equal((await app.operate('POST', '/ping')).status, 202);
    await app.untilRecorded('?event=ping', 2);
    await app.patch({ url: `${receiver.url}2` });
    assert.equal((await app.deliveries('?event=ping')).length, 2);
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

  it('a receiver checks the signature by hand', async () => {
    const { body, headers } = await deliver({ secret: 'by hand' }, 'hand', { z: 'ü' });
    const expected = createHmac('sha256', 'by hand').update(body).digest('hex');
    assert.equal(headers['x-hub-signature-256'], `sha256=${expected}`);
  });
});
