// Source: webhooks, section 7.
// Own process: one server is killed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Returns these statuses one after the other, then 200. */
const failing = async (...statuses: number[]) =>
  await receive((delivery, response) => {
    const isPing = delivery.headers['x-vendor-event'] === 'ping';
    response.writeHead(isPing ? 200 : (statuses.shift() ?? 200)).end();
  });

const batch = async (events: readonly object[]) => {
  const answer = await server.http.send('/ops/v1/events/batch', { body: JSON.stringify(events) });
  assert.equal(answer.status, 202, answer.text);
};

describe('a slow receiver', () => {
  it('does not delay the others', async () => {
    const hanging = await receive(() => {});
    const slow = await WebhookApp.register(server, { url: hanging.url, events: ['*'] });
    const quickReceiver = await receive();
    const quick = await WebhookApp.register(server, { url: quickReceiver.url, events: ['*'] });
    await batch(
      Array.from({ length: 500 }, () => ({ event: 'stuck', payload: {}, app_id: slow.id })),
    );
    await hanging.until('stuck', 30);
    const delaysMs: number[] = [];
    for (let count = 0; count < 50; count++) {
      const startMs = Date.now();
      await quick.publish('swift');
      const last = (await quickReceiver.until('swift', count + 1)).at(-1);
      delaysMs.push((last?.atMs ?? 0) - startMs);
    }
    const worstMs = Math.max(...delaysMs);
    assert.ok(worstMs < 1000, `${worstMs} ms`);
    assert.ok(hanging.of('stuck').length <= 32, 'no more than the places of one receiver');
    assert.equal((await slow.operate('DELETE', '')).status, 204);
  });
});

describe('receivers that do not respond', () => {
  it('leave slots of the node to other apps, however many they are', async () => {
    const node = await ServerInProcess.start({
      flags: [...FLAGS, '--webhooks-concurrency-node=32'],
    });
    try {
      // Each hanging receiver has enough deliveries to occupy all slots.
      const hanging = await Promise.all(Array.from({ length: 4 }, () => receive(() => {})));
      const slow = await Promise.all(
        hanging.map(({ url }) => WebhookApp.register(node, { url, events: ['stuck'] })),
      );
      const quickReceiver = await receive();
      const quick = await WebhookApp.register(node, { url: quickReceiver.url, events: ['swift'] });
      const events = slow.flatMap(({ id }) =>
        Array.from({ length: 100 }, () => ({ event: 'stuck', payload: {}, app_id: id })),
      );
      const body = JSON.stringify(events);
      assert.equal((await node.http.send('/ops/v1/events/batch', { body })).status, 202);
      await Promise.all(hanging.map((each) => each.until('stuck', 4)));
      for (let count = 1; count <= 20; count++) {
        const startMs = Date.now();
        await quick.publish('swift');
        const last = (await quickReceiver.until('swift', count)).at(-1);
        const delayMs = (last?.atMs ?? 0) - startMs;
        assert.ok(delayMs < 2000, `delivery ${count} took ${delayMs} ms`);
      }
      // 32 slots for four apps, each limited to the number of free slots.
      const most = Math.max(...hanging.map((each) => each.of('stuck').length));
      assert.ok(most <= 16, `${most} attempts of one app`);
    } finally {
      await node.close();
    }
  });
});

describe('a receiver of several apps', () => {
  it('gives its places to the apps in turn, however much waits for one of them', async () => {
    const shared = await receive((delivery, response) => {
      const isHoarded = delivery.headers['x-vendor-event'] === 'hoard';
      setTimeout(() => response.end(), isHoarded ? 250 : 0);
    });
    const hoarder = await WebhookApp.register(server, {
      url: `${shared.url}/hoarder`,
      events: ['hoard'],
    });
    const other = await WebhookApp.register(server, {
      url: `${shared.url}/other`,
      events: ['meek'],
    });
    const hoardCount = 1000;
    await batch(
      Array.from({ length: hoardCount }, () => ({
        event: 'hoard',
        payload: {},
        app_id: hoarder.id,
      })),
    );
    await shared.until('hoard', 32);
    for (let count = 1; count <= 5; count++) {
      await other.publish('meek');
      await shared.until('meek', count);
    }
    const { length } = shared.of('hoard');
    assert.ok(length < hoardCount, `all ${length} went first`);
    assert.equal((await hoarder.operate('DELETE', '')).status, 204);
  });
});

describe('retries', () => {
  it('follow the schedule, each with a record of its own and the same GUID', async () => {
    const receiver = await failing(500, 503);
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      retry: { policy: 'schedule', schedule: [0.3, 0.6] },
    });
    const guid = await app.publish('retried');
    const records = await app.untilRecorded('?event=retried', 3);
    assert.deepEqual(
      records.map(({ status_code, redelivery, guid: g }) => [status_code, redelivery, g]),
      [
        [200, true, guid],
        [503, true, guid],
        [500, false, guid],
      ],
    );
    const times = receiver.of('retried').map(({ atMs }) => atMs);
    assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 300);
    assert.ok((times[2] ?? 0) - (times[1] ?? 0) >= 600);
    const bodies = new Set(receiver.of('retried').map(({ body }) => body));
    assert.equal(bodies.size, 1);
  });

  it('wait as long as the receiver asks', async () => {
    let isFirst = true;
    const receiver = await receive((delivery, response) => {
      if (delivery.headers['x-vendor-event'] === 'asked' && isFirst) {
        isFirst = false;
        response.writeHead(429, { 'retry-after': '1' });
      }
      response.end();
    });
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      retry: { policy: 'schedule', schedule: [0] },
    });
    await app.publish('asked');
    const [first, second] = await receiver.until('asked', 2);
    assert.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= 1000);
  });

  it('end dead, from where the operator sends them again', async () => {
    const receiver = await failing(500, 500);
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      retry: { policy: 'schedule', schedule: [0.1] },
    });
    const guid = await app.publish('died');
    await app.untilRecorded('?event=died', 2);
    const queue = JSON.parse((await app.operate('GET', '/queue')).text) as { dead: number };
    assert.equal(queue.dead, 1);
    const dead = JSON.parse((await app.operate('GET', '/deliveries?state=dead')).text) as {
      guid: string;
      state: string;
    }[];
    assert.deepEqual(
      dead.map((item) => [item.guid, item.state]),
      [[guid, 'dead']],
    );
    for (const state of ['bogus', 'pending', 1, null]) {
      const refused = await app.operate('POST', '/redrive', { state });
      assert.deepEqual(
        [refused.status, JSON.parse(refused.text).errors],
        [422, [{ resource: 'HookDelivery', field: 'state', code: 'invalid', value: state }]],
      );
    }
    const redrive = { state: 'dead' };
    const dry = await app.operate('POST', '/redrive', { ...redrive, dry_run: true });
    assert.deepEqual([dry.status, JSON.parse(dry.text)], [202, { matched: 1, queued: 0 }]);
    const done = await app.operate('POST', '/redrive', redrive);
    assert.deepEqual(JSON.parse(done.text), { matched: 1, queued: 1 });
    const [again] = await app.untilRecorded('?event=died', 3);
    assert.deepEqual([again?.guid, again?.status_code, again?.redelivery], [guid, 200, true]);
  });

  it('are none by default, and failed events are found by a filter', async () => {
    const receiver = await failing(500, 500, 200);
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    await app.publish('lost', { action: 'a' });
    await app.untilRecorded('?event=lost', 1);
    await app.publish('lost', { action: 'b' });
    await app.untilRecorded('?event=lost', 2);
    await app.publish('fine');
    await app.untilRecorded('?event=fine', 1);
    await sleep(300);
    assert.equal((await app.deliveries('?event=lost')).length, 2);
    const filter = { status: 'failure', event: 'lost' };
    const answer = await app.operate('POST', '/redrive', filter);
    assert.deepEqual(JSON.parse(answer.text), { matched: 2, queued: 2 });
    await app.untilRecorded('?event=lost&status=success', 2);
    const none = await app.operate('POST', '/redrive', filter);
    assert.deepEqual(JSON.parse(none.text), { matched: 0, queued: 0 });
  });

  it('go on at 410, a failure like any other', async () => {
    const receiver = await failing(410);
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      retry: { policy: 'standard' },
    });
    await app.publish('gone');
    const [record] = await app.untilRecorded('?event=gone', 1);
    assert.equal(record?.status_code, 410);
    const shown = JSON.parse((await app.operate('GET', '')).text) as { hook: { active: boolean } };
    assert.equal(shown.hook.active, true);
    const answer = await server.http.send('/ops/v1/events', {
      body: JSON.stringify({ event: 'gone', payload: {}, app_id: app.id }),
    });
    assert.equal((JSON.parse(answer.text) as { targets: unknown[] }).targets.length, 1);
  });
});

describe('order', () => {
  it('is strict per key; a head that is retried blocks its own key alone', async () => {
    let isThrough = false;
    const receiver = await receive((delivery, response) => {
      const { key, n } = JSON.parse(delivery.body) as { key?: string; n?: number };
      // The first attempt for `a` fails until the last event of `b` has arrived: if it blocked `b`, neither would end.
      if (key === 'b' && n === 19) isThrough = true;
      const fails = key === 'a' && n === 0 && !isThrough;
      setTimeout(() => response.writeHead(fails ? 500 : 200).end(), 5);
    });
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      ordering: 'key',
      retry: { policy: 'schedule', schedule: Array.from({ length: 20 }, () => 0.4) },
    });
    const events = Array.from({ length: 20 }, (_, n) =>
      ['a', 'b', 'c'].map((key) => ({
        event: 'ordered',
        payload: { key, n },
        app_id: app.id,
        ordering_key: key,
      })),
    ).flat();
    await batch(events.slice(0, 30));
    await batch(events.slice(30));
    const of = (key: string) =>
      receiver
        .of('ordered')
        .map(({ body }) => JSON.parse(body) as { key: string; n: number })
        .filter((one) => one.key === key)
        .map(({ n }) => n);
    const endMs = Date.now() + 15_000;
    while (['a', 'b', 'c'].some((key) => !of(key).includes(19))) {
      assert.ok(Date.now() < endMs, `a: ${of('a')}, b: ${of('b')}, c: ${of('c')}`);
      await sleep(20);
    }
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    assert.deepEqual(of('b'), numbers);
    assert.deepEqual(of('c'), numbers);
    const heads = of('a').filter((n) => n === 0);
    assert.ok(heads.length >= 2, 'the head of a was tried again');
    assert.deepEqual(of('a'), [...heads, ...numbers.slice(1)]);
  });
});

describe('limits', () => {
  it('of attempts per second hold back, and the record says since when', async () => {
    await using limited = await ServerInProcess.start({
      flags: [...FLAGS, '--webhooks-rate-app=5'],
    });
    const receiver = await receive();
    const app = await WebhookApp.register(limited, { url: receiver.url, events: ['*'] });
    const events = Array.from({ length: 15 }, () => ({
      event: 'paced',
      payload: {},
      app_id: app.id,
    }));
    await limited.http.send('/ops/v1/events/batch', { body: JSON.stringify(events) });
    const all = await receiver.until('paced', 15);
    assert.ok((all.at(-1)?.atMs ?? 0) - (all[0]?.atMs ?? 0) >= 1500);
    const records = await app.untilRecorded('?event=paced', 15);
    assert.ok(records.some(({ throttled_at }) => throttled_at !== null));
    assert.ok(records.some(({ throttled_at }) => throttled_at === null));
  });

  it('of the queue refuse events that are aimed at a full app', async () => {
    await using small = await ServerInProcess.start({
      flags: [...FLAGS, '--webhooks-max-queued-per-app=10'],
    });
    const hanging = await receive(() => {});
    const app = await WebhookApp.register(small, {
      url: hanging.url,
      events: ['*'],
      active: false,
    });
    await app.operate('PATCH', '', { webhook: { active: true } });
    const post = async () =>
      (
        await small.http.send('/ops/v1/events', {
          body: JSON.stringify({ event: 'full', payload: {}, app_id: app.id }),
        })
      ).status;
    for (let count = 0; count < 10; count++) assert.equal(await post(), 202);
    assert.equal(await post(), 429);
  });
});

describe('a restart', () => {
  it('loses no event, whether the server was asked to stop or killed', async () => {
    const dataDir = await temporaryFolder();
    let node = await ServerProcess.start({ flags: FLAGS, dataDir });
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
        node = await ServerProcess.start({ flags: FLAGS, dataDir });
        const [received] = await back.until(end, 1);
        assert.equal(received?.headers['x-vendor-delivery'], guid);
        await back.close();
      }
    } finally {
      await node.close();
    }
  });
});
