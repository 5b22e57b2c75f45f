// Source: webhooks, sections 9 and 15.
import assert from 'node:assert/strict';
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
    const statuses = [500, 204];
    const receiver = await receive(({ headers }, response) => {
      const isPing = headers['x-vendor-event'] === 'ping';
      response.writeHead(isPing ? 204 : (statuses.shift() ?? 204)).end();
    });
    const server = await start(
      `--server-otlp-traces-url=${collector.url.replace('/hook', '/v1/traces')}`,
      '--webhooks-retry-policy=schedule',
      '--webhooks-retry-schedule=0.1',
    );
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['traced'] });
    const traceId = (await app.publish('traced')).replaceAll('-', '');
    const endMs = Date.now() + 10_000;
    const own = () => spans.filter((span) => span['traceId'] === traceId);
    while (own().length < 2) {
      assert.ok(Date.now() < endMs, JSON.stringify(spans));
      await sleep(50);
    }
    assert.deepEqual(
      own().map(({ kind, status }) => [kind, status]),
      [
        [3, { code: 2 }],
        [3, { code: 1 }],
      ],
    );
    for (const span of own()) {
      assert.match(String(span['spanId']), /^[0-9a-f]{16}$/);
      assert.ok(BigInt(span['endTimeUnixNano']) >= BigInt(span['startTimeUnixNano']));
    }
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
});
