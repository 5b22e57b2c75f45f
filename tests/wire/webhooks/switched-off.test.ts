// Source: webhooks, sections 7.1, 7.3 and 7.5: accepted events of a webhook that goes off end as records with a reason.
// Own process: one is killed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DeliveryItem,
  POSTGRES_URL,
  type RunningServer,
  ServerInProcess,
  ServerProcess,
  TestDatabase,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const open: AsyncDisposable[] = [];
after(async () => {
  for (const one of open.reverse()) await one[Symbol.asyncDispose]();
});

async function receive(response?: Parameters<typeof WebhookReceiver.start>[0]) {
  const receiver = await WebhookReceiver.start(response);
  open.push(receiver);
  return receiver;
}

const optionsOf = (flags: readonly string[]) => ({
  flags: [
    '--without-auth',
    '--services=webhooks',
    '--webhooks-allow-private-targets=127.0.0.0/8',
    ...flags,
  ],
});

async function start(flags: readonly string[], dataDir?: string): Promise<ServerInProcess> {
  const options = optionsOf(flags);
  const server = await ServerInProcess.start(dataDir ? { ...options, dataDir } : options);
  open.push(server);
  return server;
}

async function startProcess(flags: readonly string[], dataDir: string): Promise<ServerProcess> {
  const server = await ServerProcess.start({ ...optionsOf(flags), dataDir });
  open.push(server);
  return server;
}

const LATER = { deliver_at: new Date(Date.now() + 3_600_000).toISOString() };
const queueOf = async (app: WebhookApp) => JSON.parse((await app.operate('GET', '/queue')).text);

async function publishMany(server: RunningServer, app: WebhookApp, count: number, more = {}) {
  for (let from = 0; from < count; from += 100) {
    const events = Array.from({ length: Math.min(100, count - from) }, (_, index) => ({
      ...{ event: 'late', payload: { n: from + index }, app_id: app.id, ...LATER, ...more },
    }));
    const response = await server.http.send('/ops/v1/events/batch', {
      body: JSON.stringify(events),
      headers: { 'content-type': 'application/json' },
    });
    assert.ok(response.status < 300, response.text);
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 30_000;
  while (!(await isSo())) {
    assert.ok(Date.now() < endMs, what);
    await sleep(25);
  }
}

/** Returns all records of an app, page by page. */
async function allRecords(app: WebhookApp, query: string): Promise<readonly DeliveryItem[]> {
  const found: DeliveryItem[] = [];
  let path = `/api/v3/app/hook/deliveries?per_page=100${query}`;
  for (;;) {
    const response = await app.call(path);
    found.push(...(JSON.parse(response.text) as DeliveryItem[]));
    const next = /<([^>]+)>; rel="next"/.exec(String(response.headers['link'] ?? ''))?.[1];
    if (next === undefined) return found;
    path = new URL(next).pathname + new URL(next).search;
  }
}

const STORES: readonly { name: string; flags: () => Promise<readonly string[]> }[] = [
  { name: 'its own store', flags: async () => [] },
  ...(POSTGRES_URL === undefined
    ? []
    : [
        {
          name: 'PostgreSQL',
          flags: async () => {
            const database = await TestDatabase.create();
            open.push(database);
            return [`--server-database-url=${database.url}`];
          },
        },
      ]),
];

for (const { name, flags } of STORES) {
  describe(`thousands of items that wait for a webhook, in ${name}`, () => {
    it('end in batches, across a crash, each with one record; others write meanwhile', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'plinth-off-'));
      open.push({ [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true }) });
      const store = await flags();
      const receiver = await receive();
      const server = await startProcess(store, folder);
      const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
      const other = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
      await publishMany(server, app, 6000);
      await publishMany(server, other, 100);
      const off = await app.operate('PATCH', '', { webhook: { active: false } });
      assert.equal(off.status, 200, off.text);
      await app.untilRecorded('?event=late', 1);
      await server.kill();
      const restarted = await start(store, folder);
      const back = app.on(restarted);
      await until('all have ended', async () => (await queueOf(back)).pending === 0);
      const records = await allRecords(back, '&event=late');
      assert.equal(records.length, 6000);
      assert.equal(new Set(records.map(({ guid }) => guid)).size, 6000);
      assert.equal((await queueOf(other.on(restarted))).pending, 100, 'others wait on');
    });

    it('go with their app', async () => {
      const receiver = await receive();
      const server = await start(await flags());
      const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
      await app.untilRecorded('?event=ping', 1);
      await publishMany(server, app, 1200, { id: undefined, ordering_key: randomUUID() });
      assert.equal((await app.operate('DELETE', '')).status, 204);
      await until('nothing waits', async () =>
        /^webhook_queue_items\{[^}]*pending[^}]*\} 0$/m.test(
          (await server.http.send('/metrics')).text,
        ),
      );
      assert.equal(receiver.deliveries.length, 1);
      const told = () => server.logged('queued deliveries removed without sending')?.['count'];
      await until('the end is logged', async () => told() === 1200);
    });
  });
}
