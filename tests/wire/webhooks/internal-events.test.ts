// Source: webhooks, section 8.2 and 7.5; row 19 of its checklist.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  AccountsServer,
  KEYS,
  ServerProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

let server: ServerProcess;
let accounts: AccountsServer;
let receiver: WebhookReceiver;
before(async () => {
  server = await ServerProcess.start({
    flags: [
      '--without-auth',
      '--services=accounts,webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
    env: { PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: Object.values(KEYS).join(',') },
  });
  accounts = new AccountsServer(server);
  receiver = await WebhookReceiver.start();
});
after(async () => {
  await receiver.close();
  await server.close();
});

describe('what happens to accounts', () => {
  it('row 19: reaches apps that subscribed to it, signed, and can be delivered again', async () => {
    let failuresLeft = 1;
    receiver.answer = ({ headers }, response) => {
      const fails = headers['x-vendor-event'] === 'account' && failuresLeft-- > 0;
      response.writeHead(fails ? 500 : 200).end();
    };
    await accounts.create({ contact_email: 'before@example.com' });
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      secret: 'shared',
      events: ['account.*', 'account_person'],
    });
    const { id } = await accounts.create({ contact_email: 'a@example.com' });
    const [first] = await receiver.until('account', 1);
    const expected = createHmac('sha256', 'shared')
      .update(first?.body ?? '')
      .digest('hex');
    assert.equal(first?.headers['x-hub-signature-256'], `sha256=${expected}`);
    const payload = JSON.parse(first?.body ?? '') as Record<string, unknown>;
    assert.equal(payload['action'], 'created');
    assert.deepEqual(payload['sender'], { login: 'plinth', id: 0, type: 'Bot' });
    assert.equal(typeof payload['occurred_at'], 'number');
    const account = payload['account'] as Record<string, unknown>;
    assert.deepEqual(
      [account['id'], account['object'], account['contact_email']],
      [id, 'v2.core.account', 'a@example.com'],
    );
    const [failed] = await app.untilRecorded('?event=account&status=failure', 1);
    const path = `/api/v3/app/hook/deliveries/${failed?.id}/attempts`;
    assert.equal((await app.call(path, { method: 'POST' })).status, 202);
    const again = (await receiver.until('account', 2)).at(-1);
    assert.equal(again?.headers['x-vendor-delivery'], failed?.guid);
    assert.equal(again?.body, first?.body);
    const [delivered] = await app.untilRecorded('?event=account&status=success', 1);
    assert.deepEqual([delivered?.redelivery, delivered?.guid], [true, failed?.guid]);
  });

  it('row 19: tells of changes and persons, and of each once', async () => {
    receiver.answer = (_, response) => response.end();
    const { id } = await accounts.create({});
    await accounts.ok(`/v2/core/accounts/${id}`, { body: { display_name: 'Renamed' } });
    const person = await accounts.ok(`/v2/core/accounts/${id}/persons`, {
      body: { given_name: 'Ada' },
    });
    const [told] = await receiver.until('account_person', 1);
    const payload = JSON.parse(told?.body ?? '') as { person: unknown; action: string };
    assert.deepEqual(payload.person, { id: person.id, account: id });
    assert.equal(payload.action, 'created');
    const about = receiver
      .of('account')
      .map(({ headers, body }) => ({
        guid: headers['x-vendor-delivery'],
        ...(JSON.parse(body) as { action: string; account: { id: string } }),
      }))
      .filter(({ account }) => account.id === id);
    const actions = about.map(({ action }) => action);
    assert.ok(actions.includes('created') && actions.includes('updated'), actions.join(' '));
    assert.equal(new Set(about.map(({ guid }) => guid)).size, about.length);
  });
});

describe('a webhook that is switched off', () => {
  it('row 19: is reported to apps that asked for it', async () => {
    receiver.answer = (_, response) => response.end();
    await WebhookApp.register(server, { url: receiver.url, events: ['webhook.disabled'] });
    const gone = await WebhookReceiver.start(({ headers }, response) =>
      response.writeHead(headers['x-vendor-event'] === 'ping' ? 200 : 410).end(),
    );
    const app = await WebhookApp.register(server, { url: gone.url, events: ['*'] });
    await app.publish('any');
    const [told] = await receiver.until('webhook', 1);
    await gone.close();
    const payload = JSON.parse(told?.body ?? '') as Record<string, unknown>;
    assert.equal(payload['action'], 'disabled');
    assert.equal((payload['hook'] as { app_id: number }).app_id, app.id);
  });
});
