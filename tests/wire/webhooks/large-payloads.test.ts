// Source: webhooks, sections 5.2, 6.1 and 6.4; docs/ARCHITECTURE.md, "Threads".
// Own process: its main thread is measured.
import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ServerProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

const MAX_PAYLOAD_BYTES = 26_214_400;
const SECRET = 's3cret';

let server: ServerProcess;
let receiver: WebhookReceiver;
before(async () => {
  server = await ServerProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
      '--webhooks-timeout-ms=60000',
    ],
  });
  receiver = await WebhookReceiver.start();
});
after(async () => {
  await receiver.close();
  await server.close();
});

/** A payload of `sizeBytes` as compact JSON: many small members and incompressible text. */
function payloadText(sizeBytes: number): string {
  const head = '{"action":"built","installation":{"id":7},"repository":{"id":9},"items":[';
  const item = (index: number) =>
    `{"id":${index},"score":1.50,"on":true,"tags":["a","b"],"text":"${randomBytes(48).toString('hex')}"}`;
  const items: string[] = [];
  let size = head.length + ']}'.length + 600;
  for (let index = 0; size < sizeBytes; index++) {
    const text = item(index);
    items.push(text);
    size += text.length + 1;
  }
  const text = `${head}${items.join(',')}]}`;
  const missing = sizeBytes - text.length - ',"end":""'.length;
  return missing < 0 ? text : `${text.slice(0, -1)},"end":"${'x'.repeat(missing)}"}`;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

async function worstLagMs(): Promise<number> {
  const { text } = await server.http.send('/metrics');
  const lag = /^nodejs_eventloop_lag_seconds\{quantile="1"\} (\S+)$/m.exec(text)?.[1];
  return Number(lag) * 1000;
}

async function publish(app: WebhookApp, event: string, payload: string, id?: string) {
  const key = id === undefined ? '' : `"id":${JSON.stringify(id)},`;
  return await server.http.send('/ops/v1/events', {
    headers: { 'content-type': 'application/json' },
    body: `{${key}"event":"${event}","app_id":${app.id},\n "payload" : ${payload} }`,
  });
}

describe('a payload of 25 MiB', () => {
  it('is delivered and recorded byte by byte, and holds nobody up', async (t) => {
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      secret: SECRET,
      events: ['large'],
    });
    const payload = payloadText(MAX_PAYLOAD_BYTES);
    assert.equal(Buffer.byteLength(payload), MAX_PAYLOAD_BYTES);
    await worstLagMs();
    const accepted = await publish(app, 'large', payload, 'once');
    assert.equal(accepted.status, 202, accepted.text.slice(0, 500));
    const [delivery] = await receiver.until('large', 1);
    const acceptedLagMs = await worstLagMs();
    const body = delivery?.body ?? '';
    assert.equal(hash(body), hash(payload));
    const expected = createHmac('sha256', SECRET).update(payload).digest('hex');
    assert.equal(delivery?.headers['x-hub-signature-256'], `sha256=${expected}`);
    const [record] = await app.untilRecorded('?event=large', 1);
    await worstLagMs();
    const detail = await app.call(`/api/v3/app/hook/deliveries/${record?.id}`);
    const readLagMs = await worstLagMs();
    assert.equal(detail.status, 200);
    assert.ok(detail.text.includes(`"payload":${payload}},"response":`), 'the payload as it was');
    assert.match(String(detail.headers['etag']), /^W\/"[0-9a-f]{64}"$/);
    const { installation_id, repository_id, action, request } = JSON.parse(detail.text);
    assert.deepEqual([installation_id, repository_id, action], [7, 9, 'built']);
    assert.equal(request.payload.items[1].id, 1);
    const again = JSON.parse((await publish(app, 'large', payload, 'once')).text);
    assert.equal(again.duplicate, true);
    const other = await publish(app, 'large', payload.replace('built', 'BUILT'), 'once');
    assert.equal(other.status, 409);
    t.diagnostic(
      `longest hold of the main thread: ${acceptedLagMs.toFixed(0)} ms taking in and sending, ${readLagMs.toFixed(0)} ms reading`,
    );
  });

  it('is refused with one byte more', async () => {
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['larger'] });
    const refused = await publish(app, 'larger', payloadText(MAX_PAYLOAD_BYTES + 1));
    assert.equal(refused.status, 413, refused.text.slice(0, 200));
  });
});
