// Source: webhooks, sections 6.1, 8 and 14.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

let server: ServerInProcess;
let receiver: WebhookReceiver;
let admin: string;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
      '--webhooks-max-payload-bytes=1mb',
    ],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = (JSON.parse(made.text) as { token: string }).token;
  receiver = await WebhookReceiver.start();
});
after(async () => {
  await receiver.close();
  await server.close();
});

const authorized = () => ({ authorization: `Bearer ${admin}` });
const register = async (events: readonly string[], more: object = {}) =>
  await WebhookApp.register(server, { url: receiver.url, events, ...more }, authorized());
const post = async (body: unknown, headers: Record<string, string> = {}, path = '') =>
  await server.http.send(`/ops/v1/events${path}`, {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...authorized(), ...headers },
  });

describe('publishing an event', () => {
  it('reaches the apps that are subscribed, once for each key', async () => {
    const app = await register(['topic.opened']);
    const headers = { 'idempotency-key': 'once' };
    const event = { event: 'topic', action: 'opened', payload: { n: 1 } };
    const first = await post(event, headers);
    assert.equal(first.status, 202, first.text);
    const accepted = JSON.parse(first.text);
    assert.deepEqual(Object.keys(accepted), ['guid', 'accepted_at', 'targets', 'duplicate']);
    assert.ok(Math.abs(Date.parse(accepted.accepted_at) - Date.now()) < 10_000);
    assert.equal(accepted.targets[0].app_id, app.id);
    const again = JSON.parse((await post(event, headers)).text);
    assert.deepEqual(again, { ...accepted, duplicate: true });
    const [delivery] = await receiver.until('topic', 1);
    assert.equal(delivery?.headers['x-vendor-delivery'], accepted.guid);
    assert.equal(delivery?.body, '{"action":"opened","n":1}');
  });

  it('of a registered installation reaches only its app', async () => {
    const [installed] = [await register(['inst']), await register(['inst'])];
    const made = await server.http.send('/ops/v1/identities', {
      body: JSON.stringify({ kind: 'installation', id: 77, app_id: installed?.id }),
      headers: { ...authorized(), 'content-type': 'application/json' },
    });
    assert.equal(made.status, 201, made.text);
    const { text } = await post({ event: 'inst', payload: { installation: { id: 77 } } });
    const targets = JSON.parse(text).targets.map(({ app_id }: { app_id: number }) => app_id);
    assert.deepEqual(targets, [installed?.id]);
  });

  it('is refused when it is too large, not valid or without a token', async () => {
    for (const sizeBytes of [1_048_576, 1_200_000]) {
      const large = await post({ event: 'large', payload: { text: 'x'.repeat(sizeBytes) } });
      assert.deepEqual(
        [large.status, JSON.parse(large.text).message],
        [413, 'Request body too large'],
      );
    }
    assert.equal((await post({ event: 'Bad', payload: {} })).status, 422);
    assert.equal((await post('{')).status, 400);
    assert.equal((await server.http.send('/ops/v1/events', { body: '{}' })).status, 401);
  });

  it('in batches has a result for each', async () => {
    const lines = ['{"event":"b","payload":{}}', '{', '{"event":"B","payload":{}}'];
    const response = await post(lines.join('\n'), {}, '/batch');
    assert.equal(response.status, 202, response.text);
    const statuses = JSON.parse(response.text).map((item: { status?: string }) => item.status);
    assert.deepEqual(statuses, [undefined, '400', '422']);
  });
});

describe('the page of metrics', () => {
  it('counts events and attempts', async () => {
    const app = await register(['*']);
    await app.publish('measured');
    await app.untilRecorded('?event=measured', 1);
    const page = (await server.http.send('/metrics', { headers: authorized() })).text;
    for (const pattern of [
      /^webhook_events_accepted_total [1-9]/m,
      /^webhook_attempts_total\{outcome="ok"\} [1-9]/m,
      /^webhook_attempt_seconds_count [1-9]/m,
      /^webhook_queue_items\{state="pending"\} \d/m,
      /^webhook_oldest_due_seconds \d/m,
      /^webhook_inflight \d/m,
      /^webhook_throttled_total \d/m,
      /^webhook_disabled_total \d/m,
    ]) {
      assert.match(page, pattern);
    }
  });
});
