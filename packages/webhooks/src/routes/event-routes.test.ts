// Source: webhooks, sections 6.1, 7.4, 8 and 16.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type AnyJson, TestWebhooks } from '../testing/test-webhooks.js';

const MAX_BYTES = 1_048_576;

let test: TestWebhooks;
before(async () => {
  test = await TestWebhooks.start({ 'webhooks-max-payload-bytes': String(MAX_BYTES) });
});
after(() => test[Symbol.asyncDispose]());

const post = (body: unknown, headers = {}) => test.send('POST', '/ops/v1/events', body, headers);
const targetsOf = async (event: object): Promise<readonly number[]> =>
  (await test.publish({ payload: {}, ...event })).targets
    .map((target: AnyJson) => target.app_id)
    .sort((a: number, b: number) => a - b);

describe('an event', () => {
  it('is for every app that is subscribed, by name, pattern or action', async () => {
    const url = 'http://127.0.0.1:9/';
    const apps = await Promise.all(
      [['*'], ['topic'], ['topic.opened'], ['topic.*'], ['else']].map((events) =>
        test.register({ url, events }),
      ),
    );
    const [all = 0, named = 0, opened = 0, pattern = 0, other = 0] = apps.map(({ id }) => id);
    const off = await test.register({ url, events: ['*'], active: false });
    const suspended = await test.register({ url, events: ['*'] });
    await suspended.suspend();
    await test.register({ events: ['*'] }); // has no URL
    const topic = { event: 'topic' };
    const ofOpened = await targetsOf({ ...topic, action: 'opened' });
    assert.deepEqual(ofOpened, [all, named, opened, pattern]);
    assert.deepEqual(await targetsOf({ ...topic, action: 'closed' }), [all, named, pattern]);
    assert.deepEqual(await targetsOf(topic), [all, named, pattern]);
    const everyone = [all, named, opened, pattern, other];
    for (const event of ['installation', 'installation_repositories', 'meta']) {
      assert.deepEqual(await targetsOf({ event }), everyone);
    }
    assert.deepEqual(await targetsOf({ ...topic, app_id: named }), [named]);
    assert.deepEqual(await targetsOf({ ...topic, client_id: `client${pattern}` }), [pattern]);
    assert.deepEqual(await targetsOf({ ...topic, app_ids: [all, other, off.id] }), [all]);
    test.installations.set(77, named);
    const installed = { ...topic, payload: { installation: { id: 77 } } };
    assert.deepEqual(await targetsOf(installed), [named]);
    for (const app of apps) await app.remove();
    assert.deepEqual(await targetsOf(topic), []);
  });

  it('with a key is published once', async () => {
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['once'] });
    const body = { event: 'once', payload: { n: 1 }, id: 'key-1' };
    const first = await test.publish(body);
    assert.deepEqual(Object.keys(first), ['guid', 'accepted_at', 'targets', 'duplicate']);
    assert.deepEqual([first.duplicate, first.accepted_at], [false, '2026-01-01T00:00:00.000Z']);
    assert.deepEqual(await test.publish(body), { ...first, duplicate: true });
    const { id: key, ...keyless } = body;
    const byHeader = await test.publish(keyless, { 'idempotency-key': key });
    assert.deepEqual(byHeader, { ...first, duplicate: true });
    assert.equal((await post({ ...body, payload: { n: 2 } })).status, 409);
    const parallel = Array.from({ length: 8 }, () =>
      test.publish({ event: 'once', payload: {}, id: 'key-2' }),
    );
    const guids = new Set((await Promise.all(parallel)).map(({ guid }) => guid));
    assert.equal(guids.size, 1);
    await app.untilRecorded('event=once', 2);
    assert.equal((await app.records('event=once')).length, 2);
  });

  it('has `action` and `installation` added, unless its payload has them', async () => {
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const check = async (event: object, expected: string, query: string): Promise<void> => {
      await app.publish('rich', event);
      const found = await app.untilRecorded(`event=rich&${query}`, 1);
      assert.equal(receiver.of('rich').at(-1)?.body, expected);
      assert.equal(found.length, 1);
    };
    const envelope = { action: 'done', installation_id: 9 };
    await check(
      { ...envelope, payload: { repository: { id: 4 } } },
      '{"action":"done","repository":{"id":4},"installation":{"id":9}}',
      'action=done&installation_id=9&repository_id=4',
    );
    await check(
      { ...envelope, installation_id: 10 },
      '{"action":"done","installation":{"id":10}}',
      'installation_id=10',
    );
    await check({ action: 'sole' }, '{"action":"sole"}', 'action=sole');
    const own = { action: 'own', installation: { id: 3 } };
    await check({ payload: own }, JSON.stringify(own), 'action=own&installation_id=3');
    const text = 'x'.repeat(600_000);
    await check(
      { ...envelope, installation_id: 5, payload: { text } },
      `{"action":"done","text":"${text}","installation":{"id":5}}`,
      'installation_id=5',
    );
  });

  it('can be for later', async () => {
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['*'] });
    const deliver_at = new Date(test.clock.nowMs() + 60_000).toISOString();
    await app.publish('later', { deliver_at });
    const [item] = JSON.parse((await app.operate('GET', '/deliveries?state=pending')).text);
    assert.equal(item.due_at, deliver_at.replace('.000', ''));
    await test.clock.advanceMs(60_000);
    await receiver.until('later', 1);
  });

  it('is refused when it is too large or not valid', async () => {
    const sized = (sizeBytes: number) => ({ text: 'x'.repeat(sizeBytes - '{"text":""}'.length) });
    for (const [sizeBytes, status] of [
      [MAX_BYTES, 202],
      [MAX_BYTES + 1, 413],
      [MAX_BYTES + 200_000, 413],
    ] as const) {
      const response = await post({ event: 'large', payload: sized(sizeBytes) });
      assert.equal(response.status, status);
      if (status !== 202) assert.equal(JSON.parse(response.text).message, 'Request body too large');
    }
    const wide = `[${'1,'.repeat(300_000)}1]`;
    for (const [body, status] of [
      ...[
        ['{', 400],
        ['[]', 400],
        [`["${'x'.repeat(600_000)}"]`, 400],
      ],
      [`{"event":"x","payload":{"a":"${'x'.repeat(600_000)}"}`, 400],
      [`{"event":"x","payload":${wide}}`, 422],
    ] as const) {
      assert.equal((await post(body)).status, status);
    }
    const { status, text } = await post({ event: 'Bad', payload: {} });
    assert.equal(status, 422);
    assert.deepEqual(JSON.parse(text), {
      message: 'Validation Failed',
      errors: [{ resource: 'Event', field: 'event', code: 'invalid', value: 'Bad' }],
      ...{ documentation_url: 'http://a/docs/operator', status: '422' },
    });
  });
});

describe('a large payload', () => {
  it('is signed and encoded as every other', async () => {
    const receiver = await test.receive();
    const webhook = { url: receiver.url, secret: 's3cret', content_type: 'form', events: ['*'] };
    const app = await test.register(webhook);
    const payload = { items: Array.from({ length: 25_000 }, (_, n) => ({ n, text: 'a b&é' })) };
    await app.publish('form', { payload });
    const [delivery] = await receiver.until('form', 1);
    const body = `payload=${encodeURIComponent(JSON.stringify(payload)).replaceAll('%20', '+')}`;
    const hash = (text = '') => createHash('sha256').update(text).digest('hex');
    assert.equal(hash(delivery?.body), hash(body));
    assert.match(String(delivery?.headers['x-hub-signature-256']), /^sha256=/);
  });
});

describe('a batch', () => {
  const batch = (body: string) => test.send('POST', '/ops/v1/events/batch', body);

  it('has a result for each event, as an array or as lines', async () => {
    const receiver = await test.receive();
    const app = await test.register({ url: receiver.url, events: ['line'] });
    const lines = [
      { event: 'line', payload: { n: 1 }, app_id: app.id, id: 'b1' },
      { event: 'Bad', payload: {} },
      { event: 'line', payload: { n: 2 }, app_id: app.id, id: 'b1' },
      { event: 'line', payload: { n: 1 }, app_id: app.id, id: 'b1' },
      { event: 'line', payload: { n: 3 }, app_id: app.id },
    ].map((line) => JSON.stringify(line));
    for (const body of [`${lines.join('\n')}\n`, `[${lines.join(' , ')}]`]) {
      const { status, text } = await batch(body);
      assert.equal(status, 202, text);
      const items = JSON.parse(text);
      const results = items.map((item: AnyJson) => item.status ?? 'ok');
      assert.deepEqual(results, ['ok', '422', '409', 'ok', 'ok']);
      assert.equal(items[3].guid, items[0].guid);
    }
    await app.untilRecorded('event=line', 3);
  });

  it('is read line by line', async () => {
    const large = JSON.stringify({ event: 'x', payload: { text: 'x'.repeat(600_000) } });
    const { text } = await batch([large, '{', '{"event":"x"}'].join('\n'));
    const results = JSON.parse(text).map((item: AnyJson) => item.status ?? 'ok');
    assert.deepEqual(results, ['ok', '400', '422']);
  });

  it('has at most 1000 events', async () => {
    const events = (count: number) =>
      JSON.stringify(Array(count).fill({ event: 'x', payload: {} }));
    assert.equal((await batch(events(1000))).status, 202);
    assert.equal((await batch(events(1001))).status, 422);
  });
});

it('refuses events for an app whose queue is full, but not those for other apps', async () => {
  await using small = await TestWebhooks.start({ 'webhooks-max-queued-per-app': '3' });
  const hanging = await small.receive(() => {});
  const app = await small.register({ url: hanging.url, events: ['full'], active: false });
  await app.change({ active: true });
  for (let count = 0; count < 3; count += 1) await app.publish('full');
  const event = { event: 'full', payload: {} };
  const refused = await small.send('POST', '/ops/v1/events', event);
  assert.deepEqual(
    [refused.status, JSON.parse(refused.text).message],
    [429, 'Too many events are queued for this app'],
  );
  const other = await small.register({ events: ['full'], url: hanging.url, active: false });
  await other.change({ active: true });
  const { targets } = await small.publish(event);
  assert.deepEqual(
    targets.map((target: AnyJson) => target.app_id),
    [other.id],
  );
});
