// Source: webhooks, sections 5.4, 6.7, 7.3, 8.2 and 15.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestReceiver } from '../../testing/test-receiver.js';
import { type AnyJson, BASE, type TestApp, TestWebhooks } from '../../testing/test-webhooks.js';
import { until } from '../../testing/until.js';

const SEC = 1000;

/** Responds to pings with 200, and to events with these statuses one after the other, then 200. */
const failing = (test: TestWebhooks, ...statuses: number[]): Promise<TestReceiver> =>
  test.receive(({ headers }, response) => {
    const isPing = headers['x-vendor-event'] === 'ping';
    response.writeHead(isPing ? 200 : (statuses.shift() ?? 200)).end();
  });

/** Seconds since the start of the clock at which the attempts were made. */
const secondsOf = (records: readonly AnyJson[]): readonly number[] =>
  records.map(({ delivered_at }) => (Date.parse(delivered_at) - Date.UTC(2026, 0, 1)) / SEC);

describe('retries', () => {
  it('follow the schedule, each with its own record and the same GUID', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await failing(test, 500, 503);
    const retry = { policy: 'schedule', schedule: [3, 60] };
    const app = await test.register({ url: receiver.url, events: ['*'], retry });
    const guid = await app.publish('retried', { payload: { n: 1 } });
    const query = 'event=retried';
    await app.untilRecorded(query, 1);
    const [item] = JSON.parse((await app.operate('GET', '/deliveries?state=pending')).text);
    assert.deepEqual([item.attempt, item.due_at], [2, '2026-01-01T00:00:03Z']);
    await test.clock.advanceMs(3 * SEC);
    await app.untilRecorded(query, 2);
    await test.clock.advanceMs(60 * SEC);
    const records = await app.untilRecorded(query, 3);
    assert.deepEqual(secondsOf(records), [63, 3, 0]);
    assert.deepEqual(
      records.map(({ status_code, redelivery, guid: own }) => [status_code, redelivery, own]),
      [
        [200, true, guid],
        [503, true, guid],
        [500, false, guid],
      ],
    );
    const bodies = receiver.of('retried').map(({ body }) => body);
    assert.deepEqual(bodies, Array(3).fill('{"n":1}'));
    const line = test.logged.find((text) => text.includes('attempt failed')) ?? '{}';
    const { guid: logged, app: id, outcome, status } = JSON.parse(line);
    assert.deepEqual([logged, id, outcome, status], [guid, app.id, 'answered', 500]);
    // All attempts of an event are spans of one trace.
    const spans = test.spans.filter(({ traceId }) => traceId === guid.replaceAll('-', ''));
    assert.deepEqual(
      spans.map(({ isFailure, attributes }) => [
        ...[isFailure, attributes['plinth.attempt'], attributes['http.response.status_code']],
        ...[attributes['plinth.event'], attributes['plinth.app_id']],
      ]),
      [
        [true, 1, 500, 'retried', app.id],
        [true, 2, 503, 'retried', app.id],
        [false, 3, 200, 'retried', app.id],
      ],
    );
  });

  it('wait as long as the receiver requests', async () => {
    await using test = await TestWebhooks.start({
      'webhooks-retry-policy': 'schedule',
      'webhooks-retry-schedule': '1,1,1',
    });
    // Only 429 and 503 may delay the next attempt.
    const statuses = [429, 503, 500];
    const receiver = await test.receive((_, response) => {
      response.writeHead(statuses.shift() ?? 200, { 'retry-after': '20' }).end();
    });
    const app = await test.register({ events: ['*'] });
    await app.change({ url: receiver.url });
    await app.publish('asked');
    for (const [index, delaySec] of [20, 20, 1].entries()) {
      await app.untilRecorded('event=asked', index + 1);
      await test.clock.advanceMs(delaySec * SEC);
    }
    const records = await app.untilRecorded('event=asked', 4);
    assert.deepEqual(secondsOf(records), [41, 40, 20, 0]);
  });

  it('end as dead, from where the operator sends the event again', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await failing(test, 500, 500);
    const retry = { policy: 'schedule', schedule: [1] };
    const app = await test.register({ url: receiver.url, events: ['*'], retry });
    const guid = await app.publish('died');
    await app.untilRecorded('event=died', 2, 100);
    const queue = JSON.parse((await app.operate('GET', '/queue')).text);
    assert.deepEqual([queue.pending, queue.leased, queue.dead], [0, 0, 1]);
    const dead = JSON.parse((await app.operate('GET', '/deliveries?state=dead')).text);
    assert.deepEqual([dead.length, dead[0].guid, dead[0].state], [1, guid, 'dead']);
    assert.equal((await app.operate('GET', '/deliveries?state=bogus')).status, 422);
    for (const state of ['bogus', 'pending', 1, null]) {
      const { status, text } = await app.operate('POST', '/redrive', { state });
      const errors = [{ resource: 'HookDelivery', field: 'state', code: 'invalid', value: state }];
      assert.deepEqual([status, JSON.parse(text).errors], [422, errors]);
    }
    assert.equal((await app.operate('POST', '/redrive', { dryrun: true })).status, 422);
    const redrive = async (more: object) => {
      const { status, text } = await app.operate('POST', '/redrive', { state: 'dead', ...more });
      assert.equal(status, 202);
      return JSON.parse(text);
    };
    assert.deepEqual(await redrive({ dry_run: true }), { matched: 1, queued: 0 });
    assert.deepEqual(await redrive({}), { matched: 1, queued: 1 });
    const [again] = await app.untilRecorded('event=died', 3);
    assert.deepEqual([again?.guid, again?.status_code, again?.redelivery], [guid, 200, true]);
  });

  it('are none by default, and the operator sends failed events again by a filter', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await failing(test, 500, 500);
    const app = await test.register({ url: receiver.url, events: ['*'] });
    for (const [index, event] of ['lost', 'lost', 'fine'].entries()) {
      await app.publish(event, { action: `a${index}` });
      await app.untilRecorded(`event=${event}&action=a${index}`, 1);
    }
    await test.clock.advanceMs(60 * SEC);
    assert.equal(receiver.of('lost').length, 2);
    const filter = { status: 'failure', event: 'lost' };
    const redrive = async (given: object) =>
      JSON.parse((await app.operate('POST', '/redrive', given)).text).queued;
    assert.equal(await redrive({ ...filter, dry_run: true }), 0);
    assert.equal(await redrive(filter), 2);
    await app.untilRecorded('event=lost&status=success', 2);
    assert.equal(await redrive(filter), 0);
    assert.equal(await redrive({}), 0, 'only failed events by default');
  });
});

describe('a webhook whose receiver fails', () => {
  it('stays enabled at 410 by default', async () => {
    await using test = await TestWebhooks.start({ 'webhooks-retry-policy': 'standard' });
    const receiver = await failing(test, 410);
    const app = await test.register({ url: receiver.url, events: ['*'] });
    await app.publish('gone');
    await app.untilRecorded('event=gone', 2, SEC);
    assert.equal((await app.shown()).active, true);
  });

  it('is disabled at 410 if so set, and records everything that waited', async () => {
    await using test = await TestWebhooks.start({ 'webhooks-disable-on-gone': 'true' });
    const receiver = await test.receive(({ headers }, response) => {
      response.writeHead(headers['x-vendor-event'] === 'last' ? 410 : 200).end();
    });
    const watcher = await test.register({ url: receiver.url, events: ['webhook.disabled'] });
    const app = await test.register({ url: receiver.url, events: ['*'], ordering: 'key' });
    const before = await app.config();
    const deliver_at = new Date(test.clock.nowMs() + 3_600_000).toISOString();
    const guids = await Promise.all(
      [undefined, 'a', 'a'].map((ordering_key) =>
        app.publish('waits', { deliver_at, ordering_key }),
      ),
    );
    await app.publish('last');
    const records = await app.untilRecorded('event=waits', 3, 5);
    assert.deepEqual(records.map(({ guid }) => guid).sort(), guids.sort());
    const status = 'not sent: the webhook was disabled (the receiver returned 410)';
    for (const record of records) {
      const { status_code, duration, redelivery } = record;
      assert.deepEqual([record.status, status_code, duration, redelivery], [status, 503, 0, false]);
    }
    assert.equal((await app.records('status=failure&event=waits')).length, 3);
    assert.equal(receiver.of('waits').length, 0);
    const [{ id = 0, guid = '' } = {}] = records;
    const detail = JSON.parse((await app.call('GET', `/hook/deliveries/${id}`)).text);
    assert.deepEqual(
      [detail.url, detail.request, detail.response],
      [receiver.url, { headers: null, payload: {} }, { headers: null, payload: null }],
    );
    // Apps that subscribed to it are informed.
    const [told] = await watcher.untilRecorded('event=webhook', 1, 100);
    assert.equal(told?.action, 'disabled');
    const informed = JSON.parse(receiver.of('webhook')[0]?.body ?? '');
    assert.equal(informed.hook.app_id, app.id);

    const off = await app.config();
    const reason = { disabled_reason: 'the receiver returned 410' };
    assert.deepEqual(off, { ...before, active: false, ...reason, disabled_at: off.disabled_at });
    assert.equal(off.disabled_at.slice(0, 17), '2026-01-01T00:00:');
    const shown = await app.shown();
    assert.deepEqual(
      [shown.active, shown.disabled_reason, shown.disabled_at],
      [false, off.disabled_reason, off.disabled_at],
    );
    await app.patch({ active: false });
    assert.equal((await app.patch({ active: true, url: 'nowhere' })).status, 422);
    assert.deepEqual(await app.config(), off, 'neither changes anything');

    // The app enables it again.
    assert.deepEqual(JSON.parse((await app.patch({ active: true })).text), before);
    const { status: code } = await app.call('POST', `/hook/deliveries/${id}/attempts`);
    assert.equal(code, 202);
    await app.untilRecorded(`status=success&guid=${guid}`, 1);
  });

  it('is disabled after the set time of only failures, which a success restarts', async () => {
    await using test = await TestWebhooks.start({ 'webhooks-disable-after-hours': '0.01' }); // 36 s
    const receiver = await failing(test, 500, 200, 500, 500, 500);
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const isActiveAfter = async (sec: number, event: string): Promise<boolean> => {
      await test.clock.advanceMs(sec * SEC);
      await app.publish(event);
      await app.untilRecorded(`event=${event}`, 1);
      return (await app.shown()).active;
    };
    assert.equal(await isActiveAfter(0, 'first'), true);
    assert.equal(await isActiveAfter(40, 'good'), true);
    assert.equal(await isActiveAfter(0, 'second'), true);
    assert.equal(await isActiveAfter(35, 'third'), true);
    await isActiveAfter(1, 'fourth');
    const { disabled_reason } = await until(
      () => app.shown(),
      ({ active }) => !active,
    );
    assert.equal(disabled_reason, 'all attempts failed for too long');
  });
});

describe('a webhook that its operator disables', () => {
  it('records what waited, and cannot be enabled by its app', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const deliver_at = new Date(test.clock.nowMs() + 3_600_000).toISOString();
    await app.publish('waits', { deliver_at });
    await app.change({ active: false });
    const [record] = await app.untilRecorded('event=waits', 1, 5);
    assert.equal(record?.status, 'not sent: the operator disabled the webhook');
    const off = await app.config();
    assert.deepEqual(Object.keys(off), ['content_type', 'insecure_ssl', 'url']);
    assert.equal((await app.patch({ active: true })).status, 422);
    assert.equal((await app.shown()).active, false);
    assert.equal((await app.operate('POST', '/ping')).status, 422);
    await app.change({ active: true });
    assert.deepEqual(await app.config(), off);
    assert.equal((await app.operate('POST', '/ping')).status, 202);
  });
});

it('pings a webhook with a URL when it is registered, and when the operator requests it', async () => {
  await using test = await TestWebhooks.start();
  const receiver = await test.receive();
  const webhook = { url: receiver.url, secret: 'pong', events: ['issues'] };
  const app = await test.register(webhook);
  const [first] = await receiver.until('ping', 1);
  const ping = JSON.parse(first?.body ?? '');
  assert.equal(typeof ping.zen, 'string');
  const { id } = await app.shown();
  const config = { content_type: 'json', insecure_ssl: '0', secret: '********', url: receiver.url };
  const at = '2026-01-01T00:00:00Z';
  assert.deepEqual(
    [ping.hook_id, ping.hook],
    [
      id,
      {
        ...{ type: 'App', id, name: 'web', active: true, events: ['issues'], config },
        ...{ updated_at: at, created_at: at, app_id: app.id },
        deliveries_url: `${BASE}/api/v3/app/hook/deliveries`,
      },
    ],
  );
  assert.match(String(first?.headers['user-agent']), /^Vendor-Hookshot\/[0-9a-f]{7}$/);
  assert.match(
    String(first?.headers['x-vendor-delivery']),
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.equal((await app.operate('POST', '/ping')).status, 202);
  await app.untilRecorded('event=ping', 2);
  await app.patch({ url: `${receiver.url}2` });
  assert.equal((await app.records('event=ping')).length, 2);
  const bare = await test.register();
  assert.equal((await bare.operate('POST', '/ping')).status, 422);
});

describe('deliveries', () => {
  /** Publishes an event and returns its record. */
  async function recordOf(app: TestApp, event: string, more = {}): Promise<AnyJson> {
    await app.publish(event, more);
    const [record] = await app.untilRecorded(`event=${event}`, 1);
    return record;
  }

  it('are filtered', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await test.receive(({ body }, response) => {
      response.writeHead(body.includes('fail') ? 500 : 200).end('x');
    });
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const good = await app.publish('filter', { action: 'good', installation_id: 7 });
    const bad = { action: 'fail', payload: { repository: { id: 8 } } };
    await app.publish('filter', bad);
    const [record] = await app.untilRecorded(`guid=${good}`, 1);
    await app.call('POST', `/hook/deliveries/${record?.id}/attempts`);
    await app.untilRecorded('event=filter', 3);
    for (const [query, actions] of [
      ['redelivery=true', ['good']],
      ['redelivery=false', ['fail', 'good']],
      ['status=failure', ['fail']],
      ['status=success', ['good', 'good']],
      ['installation_id=7', ['good', 'good']],
      ['repository_id=8', ['fail']],
      [`guid=${good}`, ['good', 'good']],
      ['action=fail', ['fail']],
      ['since=2100-01-01T00:00:00Z', []],
      ['since=2020-01-01T00:00:00Z', ['fail', 'good', 'good']],
      ['until=2020-01-01T00:00:00Z', []],
    ] as const) {
      const found = (await app.records(`event=filter&${query}`)).map(({ action }) => action);
      assert.deepEqual(found.sort(), actions, query);
    }
    assert.equal((await app.call('GET', '/hook/deliveries?status=odd')).status, 422);
  });

  it('keep 64 KiB of an endless response', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await test.receive((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(50_000)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const app = await test.register({ url: receiver.url, events: ['endless'] });
    const { id, status } = await recordOf(app, 'endless');
    assert.equal(status, 'OK');
    const { text } = await app.call('GET', `/hook/deliveries/${id}`);
    assert.equal(JSON.parse(text).response.payload.length, 65_536);
    const shown = JSON.parse((await app.operate('GET', `/deliveries/${id}`)).text);
    assert.deepEqual([shown.response_bytes, shown.response_truncated], [65_536, true]);
  });

  it('report whether a response is complete, whatever its bytes are', async () => {
    await using test = await TestWebhooks.start();
    const partOf = async (size: number, ...chunks: readonly number[]) => {
      const receiver = await test.receive((_, response) => {
        // Without Content-Length. Each of these bytes is decoded to three.
        for (const count of chunks) response.write(Buffer.alloc(count, 0xff));
        response.end();
      });
      const app = await test.register({ url: receiver.url, events: ['binary'] });
      const { id } = await recordOf(app, 'binary');
      const shown = JSON.parse((await app.operate('GET', `/deliveries/${id}`)).text);
      const { payload } = shown.response;
      assert.equal(payload, '\ufffd'.repeat(size));
      return [shown.response_bytes, shown.response_truncated];
    };
    assert.deepEqual(await partOf(22_000, 22_000), [22_000, false]);
    assert.deepEqual(await partOf(65_536, 60_000, 5536), [65_536, false]);
    assert.deepEqual(await partOf(65_536, 65_536, 1), [65_536, true]);
  });

  it('are sent again with the same GUID and bytes, by the current configuration', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['*'], secret: 'old' });
    const original = await recordOf(app, 'again', { payload: { n: 1 } });
    const path = `/hook/deliveries/${original.id}`;
    const before = (await app.call('GET', path)).text;
    await app.patch({ content_type: 'form', secret: 'new' });
    const response = await app.call('POST', `${path}/attempts`);
    assert.deepEqual([response.status, response.text], [202, '']);
    const [again] = await app.untilRecorded('event=again', 2);
    assert.deepEqual([again?.guid, again?.redelivery], [original.guid, true]);
    assert.ok((again?.id ?? 0) > original.id);
    assert.equal((await app.call('GET', path)).text, before);
    const [first, second] = receiver.of('again');
    assert.deepEqual([first?.body, second?.body], ['{"n":1}', 'payload=%7B%22n%22%3A1%7D']);
    const [one, two] = [first, second].map((each) => each?.headers['x-hub-signature-256']);
    assert.notEqual(one, two);
    const stranger = await test.register();
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/attempts'],
    ] as const) {
      assert.equal((await stranger.call(method, path + end)).status, 404);
    }
  });

  it('are sent again at most ten times a minute, and only by an active webhook', async () => {
    await using test = await TestWebhooks.start();
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const { id } = await recordOf(app, 'spam');
    const path = `/hook/deliveries/${id}/attempts`;
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await app.call('POST', path)).status, 202);
    }
    const refusal = async () => JSON.parse((await app.call('POST', path)).text).errors[0];
    assert.deepEqual(await refusal(), {
      ...{ resource: 'HookDelivery', field: 'id', code: 'custom' },
      message: 'Too many redelivery requests',
    });
    await test.clock.advanceMs(60 * SEC);
    assert.equal((await app.call('POST', path)).status, 202);
    await app.change({ active: false });
    assert.equal((await refusal()).message, 'The webhook is not active');
  });
});

it('signs with both secrets while a rotation lasts', async () => {
  await using test = await TestWebhooks.start();
  const receiver = await test.receive();
  const standard = { standard_webhooks: 'hmac', events: ['*'] };
  const app = await test.register({ url: receiver.url, secret: 'old', ...standard });
  const signatures = async (event: string) => {
    await app.publish(event);
    const [delivery] = await receiver.until(event, 1);
    const { 'x-hub-signature-256': hub, 'webhook-signature': all } = delivery?.headers ?? {};
    return [hub, String(all).split(' ').length] as const;
  };
  const [byOld] = await signatures('a');
  const kept = await app.operate('POST', '/secret/rotate', { secret: 'new', sign_with: 'old' });
  assert.equal(kept.text, '{"old_secret_valid_until":"2026-01-02T00:00:00Z"}');
  assert.deepEqual(await signatures('b'), [byOld, 2]);
  const { secret } = JSON.parse((await app.operate('POST', '/secret/rotate', {})).text);
  assert.match(secret, /^[\w-]{43}$/);
  const [byMade, count] = await signatures('c');
  assert.equal(count, 2);
  const short = { secret: 'next', overlap_seconds: 60, sign_with: 'old' };
  await app.operate('POST', '/secret/rotate', short);
  assert.deepEqual(await signatures('d'), [byMade, 2]);
  await test.clock.advanceMs(60 * SEC);
  assert.equal((await signatures('expired'))[1], 1);
  await app.patch({ secret: 'old' });
  assert.deepEqual(await signatures('e'), [byOld, 1], 'a secret of the app is the only one');
  for (const body of [{ secret: 5 }, { secret: '\ud800' }, { secrt: 'new' }]) {
    assert.equal((await app.operate('POST', '/secret/rotate', body)).status, 422);
  }
});

it('signs asymmetrically for a webhook that shows the public key', async () => {
  await using test = await TestWebhooks.start();
  const receiver = await test.receive();
  const webhook = { url: receiver.url, events: ['*'], standard_webhooks: 'ed25519' };
  const app = await test.register(webhook);
  await app.publish('signed');
  const [delivery] = await receiver.until('signed', 1);
  const { 'webhook-id': id, 'webhook-timestamp': sec, ...rest } = delivery?.headers ?? {};
  const shown = (await app.shown()).standard_webhooks_public_key;
  const x = Buffer.from(shown.replace('whpk_', ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signature = String(rest['webhook-signature']).replace('v1a,', '');
  const text = Buffer.from(`${id}.${sec}.${delivery?.body}`);
  assert.ok(verify(null, text, key, Buffer.from(signature, 'base64')));
});
