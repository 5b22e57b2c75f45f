// Source: webhooks, section 5.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

const DELIVERIES = '/api/v3/app/hook/deliveries';

let server: ServerProcess;
let receiver: WebhookReceiver;
before(async () => {
  server = await ServerProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
  });
  receiver = await WebhookReceiver.start();
});
after(async () => {
  await receiver.close();
  await server.close();
});

const register = async () =>
  await WebhookApp.register(server, { url: receiver.url, events: ['*'], secret: 's3cret' });

describe('the list of deliveries', () => {
  it('comes in pages that link to their neighbors and never shift', async () => {
    const app = await register();
    // One after the other: ids within one batch of records are consecutive.
    for (let number = 0; number < 4; number++) {
      await app.publish('page', { action: `a${number}` });
      await app.untilRecorded('?event=page', number + 1);
    }
    const all = await app.untilRecorded('?event=page', 4);
    const ids = all.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => b - a),
    );
    const base = `${server.url}${DELIVERIES}`;
    const first = await app.call(`${DELIVERIES}?event=page&per_page=2`);
    assert.equal(
      first.headers['link'],
      `<${base}?event=page&per_page=2&cursor=v1_${ids[2]}>; rel="next"`,
    );
    await app.publish('page', { action: 'later' });
    await app.untilRecorded('?event=page', 5);
    const second = await app.call(`${DELIVERIES}?cursor=v1_${ids[2]}&event=page&per_page=2`);
    const page = JSON.parse(second.text) as { id: number }[];
    assert.deepEqual(
      page.map(({ id }) => id),
      ids.slice(2),
    );
    assert.equal(
      second.headers['link'],
      `<${base}?cursor=v1_${ids[0]}&event=page&per_page=2>; rel="prev"`,
    );
    const gone = await app.call(`${DELIVERIES}?cursor=v1_${(ids[2] ?? 0) + 1}&event=page`);
    assert.equal((JSON.parse(gone.text) as { id: number }[])[0]?.id, ids[2]);
    for (const cursor of ['x', 'v1_', 'v1_0', 'v2_5', 'v1_-1']) {
      const answer = await app.call(`${DELIVERIES}?cursor=${cursor}`);
      assert.equal(answer.status, 400);
      assert.equal((JSON.parse(answer.text) as { message: string }).message, 'Invalid cursor');
    }
  });

  it('has 30 items a page, at most 100, and takes nonsense for 30', async () => {
    const app = await register();
    const events = Array.from({ length: 105 }, (_, n) => ({
      event: 'many',
      payload: { n },
      app_id: app.id,
    }));
    const answer = await server.http.send('/ops/v1/events/batch', { body: JSON.stringify(events) });
    assert.equal(answer.status, 202, answer.text);
    await receiver.until('many', 105);
    const size = async (query: string) => (await app.deliveries(`?event=many${query}`)).length;
    while ((await size('&per_page=100')) < 100) await new Promise((r) => setTimeout(r, 20));
    assert.equal(await size(''), 30);
    for (const [value, count] of [
      ['1', 1],
      ['100', 100],
      ['101', 100],
      ['10000000000', 100],
      ['0', 30],
      ['-5', 30],
      ['x', 30],
      ['1.5', 30],
    ] as const) {
      assert.equal(await size(`&per_page=${value}`), count, value);
    }
    assert.deepEqual(await app.deliveries('?event=never'), []);
  });

  it('is filtered by redelivery, status and more', async () => {
    const app = await register();
    receiver.answer = (delivery, response) => {
      response.statusCode = delivery.body.includes('fail') ? 500 : 200;
      response.end('x');
    };
    const good = await app.publish('filter', { action: 'good', installation_id: 7 });
    await app.publish('filter', { action: 'fail', payload: { repository: { id: 8 } } });
    const both = await app.untilRecorded('?event=filter', 2);
    const record = both.find(({ guid }) => guid === good);
    await app.call(`${DELIVERIES}/${record?.id}/attempts`, { method: 'POST' });
    await app.untilRecorded('?event=filter', 3);
    const actions = async (query: string) =>
      (await app.deliveries(`?event=filter&${query}`)).map(({ action }) => action);
    assert.deepEqual(await actions('redelivery=true'), ['good']);
    assert.deepEqual(await actions('redelivery=1'), ['good']);
    assert.deepEqual((await actions('redelivery=false')).sort(), ['fail', 'good']);
    assert.deepEqual(await actions('status=failure'), ['fail']);
    assert.deepEqual(await actions('status=success'), ['good', 'good']);
    assert.deepEqual(await actions('installation_id=7'), ['good', 'good']);
    assert.deepEqual(await actions('repository_id=8'), ['fail']);
    assert.deepEqual(await actions(`guid=${good}`), ['good', 'good']);
    assert.deepEqual(await actions('action=fail'), ['fail']);
    assert.deepEqual(await actions('since=2100-01-01T00:00:00Z'), []);
    assert.equal((await actions('since=2020-01-01T00:00:00Z')).length, 3);
    for (const query of ['redelivery=yes', 'status=odd', 'since=x', 'event=a%00', 'guid=%00']) {
      const answer = await app.call(`${DELIVERIES}?${query}`);
      assert.equal(answer.status, 422, query);
      const [field, value = ''] = query.split('=').map(decodeURIComponent);
      assert.deepEqual((JSON.parse(answer.text) as { errors: unknown }).errors, [
        { resource: 'HookDelivery', field, code: 'invalid', value },
      ]);
    }
    receiver.answer = (_, response) => response.end('ok');
  });
});

describe('one delivery', () => {
  it('shows what was sent and what came back', async () => {
    const app = await register();
    receiver.answer = (_, response) => {
      response.writeHead(201, [
        ['x-b', '2'],
        ['X-a', '1'],
        ['x-b', '3'],
        ['content-type', 'text/plain'],
      ] as unknown as string[]);
      response.end(Buffer.from([0x68, 0xff, 0x69]));
    };
    const guid = await app.publish('detail', { action: 'made', payload: { b: 1, a: [2] } });
    const [summary] = await app.untilRecorded('?event=detail', 1);
    const answer = await app.call(`${DELIVERIES}/${summary?.id}`);
    const detail = JSON.parse(answer.text) as {
      request: { headers: Record<string, string>; payload: unknown };
      response: { headers: Record<string, string>; payload: string };
      url: string;
    };
    assert.deepEqual(Object.keys(detail), [
      'id',
      'guid',
      'delivered_at',
      'redelivery',
      'duration',
      'status',
      'status_code',
      'event',
      'action',
      'installation_id',
      'repository_id',
      'throttled_at',
      'url',
      'request',
      'response',
    ]);
    assert.match(summary?.delivered_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(summary?.guid, guid);
    assert.deepEqual([summary?.status, summary?.status_code], ['OK', 201]);
    assert.equal(detail.url, receiver.url);
    assert.deepEqual(detail.request.payload, { action: 'made', b: 1, a: [2] });
    const received = receiver.of('detail')[0];
    for (const [name, value] of Object.entries(detail.request.headers)) {
      const index = received?.rawHeaders.indexOf(name) ?? -1;
      assert.equal(received?.rawHeaders[index + 1], value, name);
    }
    assert.equal(detail.response.payload, 'h�i');
    assert.equal(detail.response.headers['X-B'], '2, 3');
    const names = Object.keys(detail.response.headers);
    assert.deepEqual(names, [...names].sort());
    receiver.answer = (_, response) => response.end('ok');
  });

  it('keeps 64 KiB of an endless response', async () => {
    const app = await register();
    receiver.answer = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(50_000)), 5);
      response.on('close', () => clearInterval(timer));
    };
    await app.publish('endless');
    const [record] = await app.untilRecorded('?event=endless', 1);
    receiver.answer = (_, response) => response.end('ok');
    assert.deepEqual([record?.status, record?.status_code], ['OK', 200]);
    const answer = await app.call(`${DELIVERIES}/${record?.id}`);
    const { response } = JSON.parse(answer.text) as { response: { payload: string } };
    assert.equal(response.payload.length, 65_536);
  });
});

describe('a redelivery', () => {
  it('is one more attempt with the same GUID, the stored bytes and the current configuration', async () => {
    const app = await register();
    const guid = await app.publish('again', { payload: { n: 1 } });
    const [original] = await app.untilRecorded('?event=again', 1);
    const before = (await app.call(`${DELIVERIES}/${original?.id}`)).text;
    await app.patch({ content_type: 'form', secret: 'new' });
    const answer = await app.call(`${DELIVERIES}/${original?.id}/attempts`, { method: 'POST' });
    assert.deepEqual([answer.status, answer.text], [202, '']);
    assert.equal(answer.headers['content-length'], '0');
    const [again] = await app.untilRecorded('?event=again', 2);
    assert.equal(again?.guid, guid);
    assert.equal(again?.redelivery, true);
    assert.ok((again?.id ?? 0) > (original?.id ?? 0));
    assert.equal((await app.call(`${DELIVERIES}/${original?.id}`)).text, before);
    const [first, second] = receiver
      .of('again')
      .filter(({ headers }) => headers['x-vendor-delivery'] === guid);
    assert.equal(first?.body, '{"n":1}');
    assert.equal(second?.body, 'payload=%7B%22n%22%3A1%7D');
    assert.notEqual(first?.headers['x-hub-signature-256'], second?.headers['x-hub-signature-256']);
  });

  it('is refused when it is asked for too often, and for a webhook that is off', async () => {
    const app = await register();
    await app.publish('spam');
    const [record] = await app.untilRecorded('?event=spam', 1);
    const path = `${DELIVERIES}/${record?.id}/attempts`;
    for (let count = 0; count < 10; count++) {
      assert.equal((await app.call(path, { method: 'POST' })).status, 202);
    }
    const spammed = await app.call(path, { method: 'POST' });
    assert.equal(spammed.status, 422);
    assert.deepEqual((JSON.parse(spammed.text) as { errors: unknown }).errors, [
      {
        resource: 'HookDelivery',
        field: 'id',
        code: 'custom',
        message: 'Too many redelivery requests',
      },
    ]);
    await app.operate('PATCH', '', { webhook: { active: false } });
    const off = await app.call(path, { method: 'POST' });
    assert.equal(off.status, 422);
    assert.match(off.text, /"code":"custom","message":"The webhook is not active"/);
  });

  it('belongs to its own app', async () => {
    const [one, other] = [await register(), await register()];
    await one.publish('mine');
    const [record] = await one.untilRecorded('?event=mine', 1);
    for (const [method, path] of [
      ['GET', `${DELIVERIES}/${record?.id}`],
      ['POST', `${DELIVERIES}/${record?.id}/attempts`],
    ] as const) {
      assert.equal((await other.call(path, { method })).status, 404);
    }
  });
});
