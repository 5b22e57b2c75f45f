// Source: webhooks, sections 9 and 15.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EgressProxy,
  type Json,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const start = (...flags: string[]) =>
  ServerInProcess.start({
    flags: [
      ...['--without-auth', '--services=webhooks', ...flags],
      '--webhooks-allow-private-targets=127.0.0.0/8,::1/128',
    ],
  });

it('sends every attempt as a span, and all of one event as one trace', async () => {
  const spans: Record<string, Json>[] = [];
  await using collector = await WebhookReceiver.start((delivery, response) => {
    assert.equal(delivery.path, '/v1/traces');
    const [{ resource, scopeSpans }] = JSON.parse(delivery.body).resourceSpans;
    assert.equal(resource.attributes[0].key, 'service.name');
    spans.push(...scopeSpans[0].spans);
    response.end('{}');
  });
  const statuses = [500, 204];
  await using receiver = await WebhookReceiver.start(({ headers }, response) => {
    const isPing = headers['x-vendor-event'] === 'ping';
    response.writeHead(isPing ? 204 : (statuses.shift() ?? 204)).end();
  });
  await using server = await start(
    `--server-otlp-traces-url=${collector.url.replace('/hook', '/v1/traces')}`,
    ...['--webhooks-retry-policy=schedule', '--webhooks-retry-schedule=0.1'],
  );
  const app = await WebhookApp.register(server, { url: receiver.url, events: ['traced'] });
  const traceId = (await app.publish('traced')).replaceAll('-', '');
  const own = () => spans.filter((span) => span['traceId'] === traceId);
  for (const endMs = Date.now() + 10_000; own().length < 2; await sleep(50)) {
    assert.ok(Date.now() < endMs, JSON.stringify(spans));
  }
  const sent = own().map(({ kind, status }) => [kind, status.code]);
  assert.deepEqual(sent, [
    [3, 2],
    [3, 1],
  ]);
});

describe('the egress proxy', () => {
  /** Delivers an event to `localhost`, and returns the Host header and the targets of the proxy. */
  async function deliver(kind: 'http' | 'socks5', ...flags: string[]) {
    await using receiver = await WebhookReceiver.start();
    const proxy = await EgressProxy.start(kind);
    await using server = await start(`--webhooks-egress-proxy=${proxy.url}`, ...flags);
    const url = receiver.url.replace('127.0.0.1', 'localhost');
    const app = await WebhookApp.register(server, { url, events: ['through'] });
    await app.publish('through');
    const [delivery] = await receiver.until('through', 1);
    assert.equal(delivery?.headers.host, `localhost:${receiver.port}`);
    await proxy.close();
    return { targets: proxy.targets, address: `127.0.0.1:${receiver.port}` };
  }

  for (const kind of ['http', 'socks5'] as const) {
    it(`of the kind ${kind} forwards deliveries, by address`, async () => {
      const { targets, address } = await deliver(kind);
      assert.ok(targets.includes(address), targets.join());
    });
  }

  it('is not used for the hosts of egress_no_proxy', async () => {
    const { targets } = await deliver('http', '--webhooks-egress-no-proxy=localhost');
    assert.deepEqual(targets, []);
  });
});
