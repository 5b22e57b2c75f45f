// Source: webhooks, sections 5.3, 5.5, 6.3, 6.6, 7.4, 7.5, 9 and 15.
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EgressProxy,
  type Json,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const open: { close(): unknown }[] = [];
after(async () => {
  for (const one of open) await one.close();
});

async function start(...flags: string[]): Promise<ServerInProcess> {
  const server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8,::1/128',
      ...flags,
    ],
  });
  open.push(server);
  return server;
}

async function receive(
  ...args: Parameters<typeof WebhookReceiver.start>
): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(...args);
  open.push(receiver);
  return receiver;
}

async function proxyOf(kind: 'http' | 'socks5'): Promise<EgressProxy> {
  const proxy = await EgressProxy.start(kind);
  open.push(proxy);
  return proxy;
}

const byEvent = (status: (event: string) => number) =>
  receive((delivery, response) => {
    response.writeHead(status(String(delivery.headers['x-vendor-event']))).end();
  });

describe('options of the API', () => {
  it('docs_base may end in a slash', async () => {
    const server = await start('--webhooks-docs-base=https://docs.example/');
    const { text } = await server.http.send('/api/v3/app/hook/config');
    assert.equal(
      JSON.parse(text).documentation_url,
      'https://docs.example/rest/apps/webhooks#get-a-webhook-configuration-for-an-app',
    );
  });

  it('strict_query refuses what is corrected otherwise', async () => {
    const receiver = await receive();
    const strict = await WebhookApp.register(await start('--webhooks-strict-query'), {
      url: receiver.url,
    });
    for (const perPage of ['0', '101', '-1', 'ten', '1.5']) {
      const answer = await strict.call(`/api/v3/app/hook/deliveries?per_page=${perPage}`);
      assert.equal(answer.status, 422, perPage);
      const { message, errors } = JSON.parse(answer.text);
      assert.equal(message, 'Validation Failed');
      assert.deepEqual(
        [errors[0].resource, errors[0].field, errors[0].code],
        ['HookDelivery', 'per_page', 'invalid'],
      );
    }
    assert.equal((await strict.call('/api/v3/app/hook/deliveries?per_page=100')).status, 200);
  });

  it('redeliver_body=object answers {}', async () => {
    const receiver = await receive();
    const app = await WebhookApp.register(await start('--webhooks-redeliver-body=object'), {
      url: receiver.url,
      events: ['again'],
    });
    await app.publish('again');
    const [record] = await app.untilRecorded('?event=again', 1);
    const path = `/api/v3/app/hook/deliveries/${record?.id}/attempts`;
    const answer = await app.call(path, { method: 'POST' });
    assert.equal(answer.status, 202);
    assert.equal(answer.text, '{}');
    await receiver.until('again', 2);
  });

  it('enterprise_headers names the host and the version', async () => {
    const receiver = await receive();
    const server = await start(
      '--webhooks-enterprise-headers',
      '--server-public-url=https://hooks.example.com:8443',
    );
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['named'] });
    await app.publish('named');
    const [delivery] = await receiver.until('named', 1);
    assert.equal(delivery?.headers['x-vendor-enterprise-host'], 'hooks.example.com:8443');
    assert.match(String(delivery?.headers['x-vendor-enterprise-version']), /^\d+\.\d+\.\d+/);
  });
});

describe('options of the engine', () => {
  it('the circuit breaker holds back what follows ten failures', async () => {
    const receiver = await byEvent((event) => (event === 'ping' ? 200 : 500));
    const server = await start('--webhooks-breaker-enabled', '--webhooks-concurrency-host=1');
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    const queue = async () => JSON.parse((await app.operate('GET', '/queue')).text);
    assert.equal((await queue()).host.breaker, 'closed');
    for (let index = 0; index < 30; index++) await app.publish('failing');
    await app.untilRecorded('?event=failing&per_page=100', 9);
    await sleep(500);
    const { host, pending, leased } = await queue();
    assert.equal(host.breaker, 'open');
    const attemptCount = receiver.of('failing').length;
    assert.ok(attemptCount >= 9 && attemptCount < 20, String(attemptCount));
    assert.equal(pending + leased, 30 - attemptCount);
  });

  it('disable_after_hours switches a webhook off that does nothing but fail', async () => {
    let status = 500;
    const receiver = await byEvent(() => status);
    // About 1.5 seconds.
    const server = await start('--webhooks-disable-after-hours=0.0004');
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    const isActive = async () => JSON.parse((await app.operate('GET', '')).text).hook.active;
    await app.publish('first');
    await app.untilRecorded('?event=first', 1);
    await sleep(1600);
    // A success in between restarts the period.
    status = 200;
    await app.publish('good');
    await app.untilRecorded('?event=good', 1);
    status = 500;
    await app.publish('second');
    await app.untilRecorded('?event=second', 1);
    assert.equal(await isActive(), true);
    await sleep(1600);
    await app.publish('third');
    await app.untilRecorded('?event=third', 1);
    const endMs = Date.now() + 5000;
    while (await isActive()) {
      assert.ok(Date.now() < endMs, 'the webhook is still on');
      await sleep(50);
    }
  });
});

describe('traces', () => {
  it('every attempt is a span, and all of one event are one trace', async () => {
    const spans: Record<string, Json>[] = [];
    const collector = await receive((delivery, response) => {
      assert.equal(delivery.path, '/v1/traces');
      const { resourceSpans } = JSON.parse(delivery.body);
      assert.equal(resourceSpans[0].resource.attributes[0].key, 'service.name');
      spans.push(...resourceSpans[0].scopeSpans[0].spans);
      response.end('{}');
    });
    const receiver = await byEvent((event) => (event === 'good' ? 204 : 500));
    const server = await start(
      `--server-otlp-traces-url=${collector.url.replace('/hook', '/v1/traces')}`,
      '--webhooks-retry-policy=schedule',
      '--webhooks-retry-schedule=1',
    );
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    const good = await app.publish('good');
    const bad = await app.publish('bad');
    await receiver.until('bad', 2);
    const endMs = Date.now() + 10_000;
    const of = (guid: string) =>
      spans.filter(({ traceId }) => traceId === guid.replaceAll('-', ''));
    while (of(good).length < 1 || of(bad).length < 2) {
      assert.ok(Date.now() < endMs, JSON.stringify(spans));
      await sleep(50);
    }
    const [one] = of(good);
    assert.match(String(one?.['spanId']), /^[0-9a-f]{16}$/);
    assert.equal(one?.['kind'], 3);
    assert.deepEqual(one?.['status'], { code: 1 });
    assert.ok(BigInt(one?.['endTimeUnixNano']) >= BigInt(one?.['startTimeUnixNano']));
    const attribute = (span: Record<string, Json> | undefined, name: string) =>
      span?.['attributes'].find(({ key }: Json) => key === name)?.value;
    assert.deepEqual(attribute(one, 'http.response.status_code'), { intValue: '204' });
    assert.deepEqual(attribute(one, 'plinth.event'), { stringValue: 'good' });
    const attempts = of(bad).map((span) => attribute(span, 'plinth.attempt').intValue);
    assert.deepEqual(attempts.sort(), ['1', '2']);
    assert.deepEqual(of(bad)[0]?.['status'], { code: 2 });
  });
});

describe('options of the way out', () => {
  for (const kind of ['http', 'socks5'] as const) {
    it(`egress_proxy: deliveries go through a proxy of the kind ${kind}, by address`, async () => {
      const receiver = await receive();
      const { url: proxy, targets } = await proxyOf(kind);
      const server = await start(`--webhooks-egress-proxy=${proxy}`);
      const url = receiver.url.replace('127.0.0.1', 'localhost');
      const app = await WebhookApp.register(server, { url, events: ['through'] });
      await app.publish('through');
      const [delivery] = await receiver.until('through', 1);
      assert.equal(delivery?.headers.host, `localhost:${receiver.port}`);
      assert.ok(targets.includes(`127.0.0.1:${receiver.port}`), targets.join());
    });
  }

  it('egress_no_proxy: these hosts are reached without it', async () => {
    const receiver = await receive();
    const { url: proxy, targets } = await proxyOf('http');
    const server = await start(
      `--webhooks-egress-proxy=${proxy}`,
      '--webhooks-egress-no-proxy=localhost',
    );
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    const app = await WebhookApp.register(server, { url, events: ['direct'] });
    await app.publish('direct');
    await receiver.until('direct', 1);
    assert.deepEqual(targets, []);
  });

  it('a name that leads into the own network is refused at the connect', async (t) => {
    const name = hostname();
    const found = await lookup(name).catch(() => undefined);
    if (found === undefined) return t.skip(`${name} has no address`);
    const receiver = await receive();
    const url = `http://${name}:${receiver.port}/hook`;
    const outcome = async (allowed: string) => {
      const server = await ServerInProcess.start({
        flags: [
          '--without-auth',
          '--services=webhooks',
          `--webhooks-allow-private-targets=${allowed}`,
        ],
      });
      open.push(server);
      const app = await WebhookApp.register(server, { url, events: ['inward'] });
      await app.publish('inward');
      const [record] = await app.untilRecorded('?event=inward', 1);
      return record?.status;
    };
    assert.equal(await outcome('192.0.2.1'), 'failed to connect to host');
    assert.equal(receiver.deliveries.length, 0);
    // A host that is allowed by name is not checked by address.
    assert.notEqual(await outcome(name), 'failed to connect to host');
  });
});
