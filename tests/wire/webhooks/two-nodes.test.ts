// Source: webhooks, section 11.
// Own process: one is killed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebhookLoad } from '../../crash/webhook-load.js';
import {
  POSTGRES_URL,
  ServerInProcess,
  ServerProcess,
  TestDatabase,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const optionsOf = (url: string, flags: readonly string[] = []) => ({
  flags: [
    '--without-auth',
    '--services=webhooks',
    '--webhooks-allow-private-targets=127.0.0.0/8',
    `--server-database-url=${url}`,
    ...flags,
  ],
  env: { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' },
});
const startNode = (url: string, ...flags: string[]) => ServerInProcess.start(optionsOf(url, flags));

if (POSTGRES_URL === undefined) {
  it('two nodes on one PostgreSQL', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  describe('two nodes on one PostgreSQL', () => {
    it('share the work, and one goes on when the other is killed', async () => {
      await using database = await TestDatabase.create();
      const { url } = database;
      await using receiver = await WebhookReceiver.start((_, response) => {
        setTimeout(() => response.end('ok'), 10);
      });
      const [one, other] = await Promise.all([
        ServerProcess.start(optionsOf(url)),
        ServerInProcess.start(optionsOf(url)),
      ]);
      try {
        const app = await WebhookApp.register(one, { url: receiver.url, events: ['load'] });
        await sleep(1500); // until the other node has loaded the app
        const load = new WebhookLoad(app, receiver);
        let isOver = false;
        const publishing = Promise.all(
          [one, other].map((node) => load.publish(node, 400, () => isOver)),
        );
        await load.untilMore(300);
        await one.kill();
        load.noteKill();
        await load.untilMore(100);
        isOver = true;
        await publishing;
        await load.untilArrived(40_000);
        load.checkTwice();
        const records = await app.on(other).untilRecorded('?event=load&per_page=100', 100);
        assert.equal(new Set(records.map(({ id }) => id)).size, records.length);
      } finally {
        await one.close();
        await other.close();
      }
    });

    it('an API node takes events in and leaves the sending to others', async () => {
      await using database = await TestDatabase.create();
      const { url } = database;
      await using receiver = await WebhookReceiver.start();
      await using api = await startNode(url, '--webhooks-worker=false');
      const app = await WebhookApp.register(api, { url: receiver.url, events: ['handed'] });
      const guid = await app.publish('handed');
      await sleep(500);
      assert.equal(receiver.of('handed').length, 0);
      await using _worker = await startNode(url);
      const [received] = await receiver.until('handed', 1);
      assert.equal(received?.headers['x-vendor-delivery'], guid);
      await app.untilRecorded('?event=handed', 1);
    });

    it('know the same admin tokens', async () => {
      await using database = await TestDatabase.create();
      const { url } = database;
      const start = async () =>
        await ServerInProcess.start({
          flags: ['--services=webhooks', `--server-database-url=${url}`],
          env: { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' },
        });
      await using one = await start();
      await using other = await start();
      const first = async (node: ServerInProcess) =>
        await node.http.send('/api/v3/configure/token/admin', { method: 'POST' });
      const tries = await Promise.all([one, other, one, other, one, other].map(first));
      const made = tries.find(({ status }) => status === 201);
      assert.ok(made !== undefined);
      for (const { status } of tries.filter((each) => each !== made)) {
        assert.ok(status === 409 || status === 401, String(status));
      }
      const { token } = JSON.parse(made.text) as { token: string };
      const headers = { authorization: `Bearer ${token}` };
      const works = async () => {
        const asked = [one, other].map((node) => node.http.send('/ops/v1/apps', { headers }));
        return (await Promise.all(asked)).every(({ status }) => status === 200);
      };
      const endMs = Date.now() + 15_000;
      while (!(await works())) {
        assert.ok(Date.now() < endMs, 'a node has not heard of the token');
        await sleep(100);
      }
      // Concurrent requests for one name create one token; two names have separate ids.
      const make = async (node: ServerInProcess, token_name: string) =>
        await node.http.send('/api/v3/configure/token/named_admin', {
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ token_name }),
        });
      const ids = new Set<number>();
      for (let round = 0; round < 5; round += 1) {
        const same = await Promise.all([one, other].map((node) => make(node, `same${round}`)));
        assert.deepEqual(same.map(({ status }) => status).sort(), [201, 409]);
        const different = await Promise.all([make(one, `a${round}`), make(other, `b${round}`)]);
        assert.deepEqual(
          different.map(({ status }) => status),
          [201, 201],
        );
        for (const { text } of different) ids.add((JSON.parse(text) as { id: number }).id);
      }
      assert.equal(ids.size, 10);
    });

    it('refuses to start with another master key', async () => {
      await using database = await TestDatabase.create();
      const { url } = database;
      const first = await startNode(url);
      await first.close();
      await assert.rejects(
        ServerInProcess.start({
          flags: ['--without-auth', '--services=webhooks', `--server-database-url=${url}`],
          env: { PLINTH_MASTER_KEY: 'quite another key than the first node had' },
        }),
        /a stored secret cannot be decrypted with this master key/,
      );
    });
  });
}
