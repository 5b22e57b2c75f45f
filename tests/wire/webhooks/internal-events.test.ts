// Source: webhooks, section 8.2.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  KEYS,
  ServerInProcess,
  temporaryFolder,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const isPythonHere = spawnSync('python3', ['--version']).status === 0;

let server: ServerInProcess;
let accounts: AccountsServer;
let receiver: WebhookReceiver;
before(async () => {
  server = await ServerInProcess.start({
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
  it('reaches apps that subscribed to it, signed', async () => {
    await accounts.create({ contact_email: 'before@example.com' });
    const webhook = { secret: 'shared', events: ['account.*', 'account_person'] };
    await WebhookApp.register(server, { url: receiver.url, ...webhook });
    const { id } = await accounts.create({ contact_email: 'a@example.com' });
    const [first] = await receiver.until('account', 1);
    const expected = createHmac('sha256', 'shared')
      .update(first?.body ?? '')
      .digest('hex');
    assert.equal(first?.headers['x-hub-signature-256'], `sha256=${expected}`);
    const { account, occurred_at, ...payload } = JSON.parse(first?.body ?? '');
    const sender = { login: 'plinth', id: 0, type: 'Bot' };
    assert.deepEqual(payload, { action: 'created', sender });
    assert.equal(typeof occurred_at, 'number');
    assert.deepEqual(
      [account.id, account.object, account.contact_email],
      [id, 'v2.core.account', 'a@example.com'],
    );
    const [event] = (await accounts.ok(`/v2/core/events?object_id=${id}`)).data;
    const find = async (ids: string) =>
      JSON.parse((await server.http.send(`/ops/v1/events/internal?ids=${ids}`)).text);
    const [found, ...others] = await find(`${event.id},evt_test_unknown`);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [found.id, found.guid, found.targets.length],
      [event.id, first?.headers['x-vendor-delivery'], 1],
    );
    assert.match((await find('evt,'.repeat(101))).message, /Validation/);
  });

  it('tells of changes and persons, and of each once', async () => {
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

describe('what happens to databases, tables, triggers and tokens', () => {
  it('reaches apps that subscribed to it', async () => {
    const folder = await temporaryFolder();
    const secret = `apiv3_${randomBytes(64).toString('base64url')}`;
    const token = JSON.stringify({ token: secret, name: '_admin' });
    await writeFile(join(folder, 'token.json'), token, { mode: 0o600 });
    const source = 'def process_request(a, b, c, d, args=None):\n    raise ValueError("boom")\n';
    await writeFile(join(folder, 'fails.py'), source);
    await using all = await ServerInProcess.start({
      flags: [
        '--services=tsdb,webhooks',
        '--webhooks-allow-private-targets=127.0.0.0/8',
        `--admin-token-file=${join(folder, 'token.json')}`,
        `--plugin-dir=${folder}`,
      ],
    });
    const call = async (method: string, path: string, body?: unknown): Promise<number> => {
      const response = await all.http.send(path, {
        method,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return response.status;
    };
    await using inbox = await WebhookReceiver.start((_, response) => response.end());
    const webhook = { url: inbox.url, events: ['*'], secret: 'shared' };
    assert.equal(await call('POST', '/ops/v1/apps', { name: 'watcher', webhook }), 201);
    const configure = '/api/v3/configure';
    await call('POST', `${configure}/database`, { db: 'told', retention_period: '30d' });
    await call('POST', `${configure}/table`, { db: 'told', table: 'm', tags: ['host'] });
    await call('DELETE', `${configure}/table?db=told&table=m`);
    const lines = {
      method: 'POST',
      body: 'cpu f=1',
      headers: { authorization: `Bearer ${secret}` },
    };
    await all.http.send('/api/v3/write_lp?db=written', lines);
    await call('POST', `${configure}/token/named_admin`, { token_name: 'ci' });
    await call('DELETE', `${configure}/token?token_name=ci`);
    await call('POST', `${configure}/database/undelete`, { db: 'nothing' });
    const expected: readonly (readonly [event: string, action: string, rest: object])[] = [
      ['database', 'created', { database: { name: 'told', retention: '30days' } }],
      [
        'table',
        'created',
        { database: { name: 'told', retention: '30days' }, table: { name: 'm' } },
      ],
      [
        'table',
        'deleted',
        { database: { name: 'told', retention: '30days' }, table: { name: 'm' } },
      ],
      ['database', 'created', { database: { name: 'written', retention: null } }],
      [
        'table',
        'created',
        { database: { name: 'written', retention: null }, table: { name: 'cpu' } },
      ],
      ['token', 'created', { token: { id: 1, name: 'ci' } }],
      ['token', 'revoked', { token: { id: 1, name: 'ci' } }],
    ];
    const trigger = { db: 'told', trigger_name: 'fails' };
    if (isPythonHere) {
      const specification = { plugin_filename: 'fails.py', trigger_specification: 'request:fails' };
      await call('POST', `${configure}/processing_engine_trigger`, {
        ...trigger,
        ...specification,
      });
      // Failures close together are reported together.
      for (let i = 0; i < 3; i++) assert.equal(await call('GET', '/api/v3/engine/fails'), 500);
      for (const action of ['disable', 'disable', 'enable']) {
        await call('POST', `${configure}/processing_engine_trigger/${action}`, trigger);
      }
      await call('DELETE', `${configure}/processing_engine_trigger`, { ...trigger, force: true });
    }
    await call('DELETE', `${configure}/database?db=told`);
    await call('POST', `${configure}/token/admin/regenerate`);
    const named = { trigger: { database: 'told', name: 'fails' } };
    const changes = ['created', 'disabled', 'enabled', 'deleted'] as const;
    const later: typeof expected = [
      ...(isPythonHere
        ? changes.map((action) => ['processing_trigger', action, named] as const)
        : []),
      ['database', 'deleted', { database: { name: 'told', retention: '30days' } }],
      ['token', 'regenerated', { token: { id: 0, name: '_admin' } }],
    ];
    const wanted = [...expected, ...later];
    const kinds = ['database', 'table', 'token', 'processing_trigger'];
    const told = () =>
      kinds.flatMap((kind) =>
        inbox.of(kind).map(({ body }) => {
          assert.ok(!body.includes('apiv3_'), 'a secret is told');
          const { action, sender, occurred_at, ...rest } = JSON.parse(body) as Record<
            string,
            unknown
          >;
          assert.deepEqual(sender, { login: 'plinth', id: 0, type: 'Bot' });
          assert.equal(typeof occurred_at, 'number');
          return [kind, action, rest] as const;
        }),
      );
    const withoutErrors = () => told().filter(([, action]) => action !== 'error');
    for (let wait = 0; wait < 400 && withoutErrors().length < wanted.length; wait++)
      await sleep(25);
    const byText = (list: readonly (readonly unknown[])[]) =>
      list.map((each) => JSON.stringify(each)).sort();
    assert.deepEqual(byText(withoutErrors()), byText(wanted));
    if (isPythonHere) {
      const errors = told().filter(([, action]) => action === 'error');
      const counts = errors.map(([, , rest]) => {
        const { error, trigger: about } = rest as {
          error: Record<string, unknown>;
          trigger: object;
        };
        assert.deepEqual(about, named.trigger);
        assert.equal(error['message'], 'ValueError: boom');
        assert.match(String(error['at']), /^\d{4}-\d{2}-\d{2}T.*Z$/);
        return Number(error['count']);
      });
      // The first failure is reported immediately, the others when the trigger stops.
      assert.deepEqual(counts.sort(), [1, 2]);
    }
  });
});
