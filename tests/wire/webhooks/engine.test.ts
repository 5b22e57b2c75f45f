// Source: webhooks, section 7.
// Own process: one server is killed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  ServerInProcess,
  ServerProcess,
  temporaryFolder,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const FLAGS = [
  '--without-auth',
  '--services=webhooks',
  '--webhooks-allow-private-targets=127.0.0.0/8',
];

let server: ServerInProcess;
const receivers: WebhookReceiver[] = [];
before(async () => {
  server = await ServerInProcess.start({ flags: FLAGS });
});
after(async () => {
  for (const receiver of receivers) await receiver.close();
  await server.close();
});

async function receive(...args: Parameters<typeof WebhookReceiver.start>) {
  const receiver = await WebhookReceiver.start(...args);
  receivers.push(receiver);
  return receiver;
}

describe('a retry', () => {
  it('follows after the delay of the schedule', async () => {
    const statuses = [500];
    const receiver = await receive(({ headers }, response) => {
      const isPing = headers['x-vendor-event'] === 'ping';
      response.writeHead(isPing ? 200 : (statuses.shift() ?? 200)).end();
    });
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      retry: { policy: 'schedule', schedule: [0.3] },
    });
    const guid = await app.publish('retried');
    const records = await app.untilRecorded('?event=retried', 2);
    assert.deepEqual(
      records.map(({ status_code, redelivery, guid: own }) => [status_code, redelivery, own]),
      [
        [200, true, guid],
        [500, false, guid],
      ],
    );
    const { hook } = JSON.parse((await app.operate('GET', '')).text);
    assert.deepEqual([hook.last_hour.deliveries, hook.last_hour.failed], [3, 1], 'with the ping');
    // The list of all apps contains the same counts.
    const apps = JSON.parse((await server.http.send('/ops/v1/apps?per_page=100')).text);
    const { history } = apps.find((each: { id: number }) => each.id === app.id).hook;
    const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
    assert.deepEqual([sum(history.succeeded), sum(history.failed)], [2, 1]);
    // And so do the counts of all apps together.
    const all = JSON.parse((await server.http.send('/ops/v1/deliveries/history')).text);
    assert.deepEqual([all.bucket_seconds, all.succeeded.length, all.failed.length], [900, 24, 24]);
    for (const name of ['succeeded', 'failed'])
      assert.ok(sum(all[name]) >= sum(history[name]), `${name} ${all[name]}`);
    const [first, second] = receiver.of('retried');
    assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 300);
  });
});

describe('a restart', () => {
  it('loses no event, whether the server was asked to stop or killed', async () => {
    const dataDir = await temporaryFolder();
    let node: ServerInProcess | ServerProcess = await ServerProcess.start({
      flags: FLAGS,
      dataDir,
    });
    const refusing = await receive();
    const { port, url } = refusing;
    await refusing.close();
    const app = await WebhookApp.register(node, {
      url,
      events: ['*'],
      retry: { policy: 'schedule', schedule: [1, 1, 1, 1, 1, 1] },
    });
    try {
      for (const end of ['kill', 'stop'] as const) {
        const guid = await app.on(node).publish(end);
        await node[end]();
        const back = await receive(undefined, port);
        node = await ServerInProcess.start({ flags: FLAGS, dataDir });
        const [received] = await back.until(end, 1);
        assert.equal(received?.headers['x-vendor-delivery'], guid);
        await back.close();
      }
    } finally {
      await node.close();
    }
  });
});
