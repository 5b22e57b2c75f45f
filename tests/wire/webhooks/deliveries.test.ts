// Source: webhooks, section 5.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

const DELIVERIES = '/api/v3/app/hook/deliveries';

let server: ServerInProcess;
let receiver: WebhookReceiver;
before(async () => {
  server = await ServerInProcess.start({
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
  it('comes in pages that link to their neighbors', async () => {
    const app = await register();
    const events = Array.from({ length: 5 }, (_, n) => ({
      ...{ event: 'page', payload: { n }, app_id: app.id },
    }));
    const response = await server.http.send('/ops/v1/events/batch', {
      body: JSON.stringify(events),
    });
    assert.equal(response.status, 202, response.text);
    const ids = (await app.untilRecorded('?event=page', 5)).map(({ id }) => id);
    const page = async (query: string) => {
      const { headers, text } = await app.call(`${DELIVERIES}?event=page&per_page=2${query}`);
      const found = (JSON.parse(text) as { id: number }[]).map(({ id }) => id);
      return { found, link: headers['link'] };
    };
    const base = `${server.url}${DELIVERIES}?event=page&per_page=2&cursor=v1_`;
    assert.deepEqual(await page(''), {
      ...{ found: ids.slice(0, 2), link: `<${base}${ids[2]}>; rel="next"` },
    });
    assert.deepEqual(await page(`&cursor=v1_${ids[2]}`), {
      found: ids.slice(2, 4),
      link: `<${base}${ids[4]}>; rel="next", <${base}${ids[0]}>; rel="prev"`,
    });
    assert.equal((await app.call(`${DELIVERIES}?cursor=x`)).status, 400);
    assert.equal((await app.call(`${DELIVERIES}?status=odd`)).status, 422);
  });
});

describe('one delivery', () => {
  it('shows what was sent and what came back', async () => {
    const app = await register();
    receiver.response = (_, response) => {
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
      ...['id', 'guid', 'delivered_at', 'redelivery', 'duration', 'status', 'status_code'],
      ...['event', 'action', 'installation_id', 'repository_id', 'throttled_at', 'url'],
      ...['request', 'response'],
    ]);
    assert.match(summary?.delivered_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(summary?.guid, guid);
    assert.deepEqual([summary?.status, summary?.status_code], ['OK', 201]);
    assert.equal(detail.url, receiver.url);
    assert.deepEqual(detail.request.payload, { action: 'made', b: 1, a: [2] });
    const [received] = receiver.of('detail');
    assert.ok(received !== undefined);
    const { method, headers, rawHeaders } = received;
    assert.deepEqual(
      [method, headers['transfer-encoding'], headers['accept-encoding']],
      ['POST', undefined, undefined],
    );
    assert.ok(headers['content-length']);
    for (const [name, value] of Object.entries(detail.request.headers)) {
      assert.equal(rawHeaders[rawHeaders.indexOf(name) + 1], value, name);
    }
    assert.equal(detail.response.payload, 'h�i');
    assert.equal(detail.response.headers['X-B'], '2, 3');
    const names = Object.keys(detail.response.headers);
    assert.deepEqual(names, [...names].sort());
    receiver.response = (_, response) => response.end('ok');
  });
});

describe('a redelivery', () => {
  it('is one more attempt with the same GUID and bytes', async () => {
    const app = await register();
    const guid = await app.publish('again', { payload: { n: 1 } });
    const [original] = await app.untilRecorded('?event=again', 1);
    const path = `${DELIVERIES}/${original?.id}/attempts`;
    const response = await app.call(path, { method: 'POST' });
    assert.deepEqual([response.status, response.text], [202, '']);
    assert.equal(response.headers['content-length'], '0');
    const [again] = await app.untilRecorded('?event=again', 2);
    assert.deepEqual([again?.guid, again?.redelivery], [guid, true]);
    const bodies = receiver.of('again').map(({ body }) => body);
    assert.deepEqual(bodies, ['{"n":1}', '{"n":1}']);
  });
});
