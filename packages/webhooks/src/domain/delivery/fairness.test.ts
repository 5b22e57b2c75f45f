// Source: webhooks, sections 7.2 and 7.4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { TestWebhooks } from '../../testing/test-webhooks.js';
import { until } from '../../testing/until.js';

const toApp = (id: number, event: string) => () => ({ event, payload: {}, app_id: id });

it('delivers to other receivers while one does not respond', async () => {
  await using test = await TestWebhooks.start();
  const hanging = await test.receive(() => {});
  const slow = await test.register({ url: hanging.url, events: ['stuck'] });
  const receiver = await test.receive();
  const quick = await test.register({ url: receiver.url, events: ['swift'] });
  await test.publishMany(200, toApp(slow.id, 'stuck'));
  await hanging.until('stuck', 31); // and the ping
  for (let count = 1; count <= 5; count += 1) {
    await quick.publish('swift');
    await receiver.until('swift', count);
  }
  assert.equal(hanging.deliveries.length, 32, 'the limit of a receiver');
});

it('leaves slots of the node to other apps, however many receivers do not respond', async () => {
  await using test = await TestWebhooks.start({ 'webhooks-concurrency-node': '32' });
  const hanging = await Promise.all([1, 2, 3, 4].map(() => test.receive(() => {})));
  for (const { url } of hanging) {
    const { id } = await test.register({ url, events: ['stuck'] });
    await test.publishMany(40, toApp(id, 'stuck'));
  }
  const receiver = await test.receive();
  const quick = await test.register({ url: receiver.url, events: ['swift'] });
  for (let count = 1; count <= 5; count += 1) {
    await quick.publish('swift');
    await receiver.until('swift', count);
  }
  // Each app may use half of the free slots.
  const most = Math.max(...hanging.map(({ deliveries }) => deliveries.length));
  assert.ok(most <= 16, `${most} attempts of one app`);
});

it('gives the slots of a receiver to its apps in turn', async () => {
  await using test = await TestWebhooks.start({ 'webhooks-concurrency-host': '1' });
  const shared = await test.receive();
  const hoarder = await test.register({ url: shared.url, events: ['hoard'] });
  const other = await test.register({ url: shared.url, events: ['meek'] });
  await test.publishMany(300, toApp(hoarder.id, 'hoard'));
  await other.publish('meek');
  await shared.until('meek', 1);
  const { length } = shared.of('hoard');
  assert.ok(length < 300, `all ${length} went first`);
});

it('keeps the order of each key, and a failing head blocks only its own key', async () => {
  await using test = await TestWebhooks.start();
  let isFailing = true;
  const receiver = await test.receive(({ body }, response) => {
    const fails = isFailing && body === '{"key":"a","n":0}';
    response.writeHead(fails ? 500 : 200).end();
  });
  const retry = { policy: 'schedule', schedule: Array(20).fill(1) };
  const webhook = { url: receiver.url, events: ['ordered'], ordering: 'key', retry };
  const app = await test.register(webhook);
  const keys = ['a', 'b', 'c'];
  const numbers = Array.from({ length: 10 }, (_, n) => n);
  await test.publishMany(30, (index) => {
    const [key = '', n] = [keys[index % 3], Math.floor(index / 3)];
    return { event: 'ordered', payload: { key, n }, app_id: app.id, ordering_key: key };
  });
  const of = (key: string): readonly number[] =>
    receiver
      .of('ordered')
      .map(({ body }) => JSON.parse(body))
      .filter((each) => each.key === key)
      .map(({ n }) => n);
  const untilCount = (key: string, count: number) =>
    until(
      async () => {
        await test.clock.advanceMs(100);
        return of(key);
      },
      ({ length }) => length >= count,
    );
  assert.deepEqual(await untilCount('b', 10), numbers);
  assert.deepEqual(await untilCount('c', 10), numbers);
  assert.ok(of('a').every((n) => n === 0));
  await untilCount('a', 2);
  isFailing = false;
  const all = await until(
    () => untilCount('a', 11),
    (found) => found.includes(9),
  );
  const heads = all.filter((n) => n === 0);
  assert.ok(heads.length >= 2);
  assert.deepEqual(all, [...heads, ...numbers.slice(1)]);
});

it('limits the attempts per second, and records since when an event waited', async () => {
  await using test = await TestWebhooks.start({ 'webhooks-rate-app': '5' });
  const receiver = await test.receive();
  const app = await test.register({ events: ['paced'] });
  await app.change({ url: receiver.url });
  await test.clock.advanceMs(1000);
  await test.publishMany(12, toApp(app.id, 'paced'));
  await app.untilRecorded('event=paced', 5);
  assert.equal(receiver.of('paced').length, 5);
  await test.clock.advanceMs(1000);
  await app.untilRecorded('event=paced', 10);
  assert.equal(receiver.of('paced').length, 10);
  const records = await app.untilRecorded('event=paced', 12, 100);
  // After a burst of five, events follow every 200 ms, so the last three waited a second or more.
  const times = records.map(({ throttled_at }) => throttled_at);
  assert.deepEqual(times, [...Array(3).fill('2026-01-01T00:00:01Z'), ...Array(9).fill(null)]);
});

it('pauses deliveries to a receiver that fails, if the breaker is enabled', async () => {
  await using test = await TestWebhooks.start({
    'webhooks-breaker-enabled': 'true',
    'webhooks-concurrency-host': '1',
  });
  let status = 500;
  const receiver = await test.receive((_, response) => response.writeHead(status).end());
  const app = await test.register({ events: ['failing'] });
  await app.change({ url: receiver.url });
  const host = async () => JSON.parse((await app.operate('GET', '/queue')).text).host;
  assert.equal((await host()).breaker, 'closed');
  await test.publishMany(15, toApp(app.id, 'failing'));
  await app.untilRecorded('event=failing', 10);
  assert.deepEqual([(await host()).breaker, receiver.of('failing').length], ['open', 10]);
  status = 200;
  await test.clock.advanceMs(30_000);
  await app.untilRecorded('event=failing', 15, 100);
  assert.equal((await host()).breaker, 'closed');
});
