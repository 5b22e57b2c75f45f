// Source: webhooks, sections 6.1, 8 and 14.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type HttpAnswer,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

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
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    headers: { ...authorized(), ...headers },
  });

interface Accepted {
  readonly guid: string;
  readonly accepted_at: string;
  readonly targets: readonly { readonly app_id: number; readonly hook_id: number }[];
  readonly duplicate: boolean;
}
const accepted = (answer: HttpAnswer): Accepted => {
  assert.equal(answer.status, 202, answer.text);
  return JSON.parse(answer.text) as Accepted;
};
const appsOf = ({ targets }: Accepted) => targets.map(({ app_id }) => app_id).sort();

describe('publishing an event', () => {
  it('reaches every app that is subscribed, by name, pattern or action', async () => {
    const [all, issues, opened, dotted, other] = [
      await register(['*']),
      await register(['topic']),
      await register(['topic.opened']),
      await register(['topic.*']),
      await register(['else']),
    ];
    const off = await register(['*'], { active: false });
    const first = accepted(await post({ event: 'topic', action: 'opened', payload: {} }));
    assert.deepEqual(Object.keys(first), ['guid', 'accepted_at', 'targets', 'duplicate']);
    assert.equal(first.duplicate, false);
    assert.ok(Math.abs(Date.parse(first.accepted_at) - Date.now()) < 10_000);
    assert.deepEqual(appsOf(first), [all.id, issues.id, opened.id, dotted.id]);
    const second = accepted(await post({ event: 'topic', action: 'closed', payload: {} }));
    assert.deepEqual(appsOf(second), [all.id, issues.id, dotted.id]);
    const always = accepted(await post({ event: 'installation', payload: {} }));
    assert.deepEqual(appsOf(always), [all.id, issues.id, opened.id, dotted.id, other.id]);
    const aimed = accepted(await post({ event: 'topic', payload: {}, app_id: issues.id }));
    assert.deepEqual(appsOf(aimed), [issues.id]);
    const byClient = { event: 'topic', payload: {}, client_id: dotted.clientId };
    assert.deepEqual(appsOf(accepted(await post(byClient))), [dotted.id]);
    const many = { event: 'topic', payload: {}, app_ids: [all.id, other.id, off.id] };
    assert.deepEqual(appsOf(accepted(await post(many))), [all.id]);
    for (const app of [all, issues, dotted, opened, other]) await app.operate('DELETE', '');
    assert.deepEqual(accepted(await post({ event: 'topic', payload: {} })).targets, []);
  });

  it('with a key happens once a day', async () => {
    const app = await register(['once']);
    const body = { event: 'once', payload: { n: 1 }, id: 'key-1' };
    const first = accepted(await post(body));
    const again = accepted(await post(body));
    assert.deepEqual(again, { ...first, duplicate: true });
    const byHeader = { event: 'once', payload: { n: 1 } };
    const headed = accepted(await post(byHeader, { 'idempotency-key': 'key-2' }));
    const repeated = accepted(await post(byHeader, { 'idempotency-key': 'key-2' }));
    assert.deepEqual([repeated.guid, repeated.duplicate], [headed.guid, true]);
    const conflict = await post({ ...body, payload: { n: 2 } });
    assert.equal(conflict.status, 409);
    for (const key of ['a\tb', 'a\u0085b', 'k'.repeat(256)]) {
      assert.equal((await post(byHeader, { 'idempotency-key': key })).status, 422, key);
      assert.equal((await post({ ...byHeader, id: key })).status, 422, key);
    }
    const parallel = await Promise.all(
      Array.from({ length: 8 }, () => post({ event: 'once', payload: {}, id: 'key-3' })),
    );
    const guids = new Set(parallel.map((answer) => accepted(answer).guid));
    assert.equal(guids.size, 1);
    await app.untilRecorded('?event=once', 3);
    assert.equal((await app.deliveries('?event=once')).length, 3);
  });

  it('adds action and installation to the payload, and takes ids from it', async () => {
    const app = await register(['*']);
    await post({
      event: 'enrich',
      action: 'done',
      installation_id: 9,
      payload: { repository: { id: 4 } },
      app_id: app.id,
    });
    const [received] = await receiver.until('enrich', 1);
    assert.equal(received?.body, '{"action":"done","repository":{"id":4},"installation":{"id":9}}');
    const [record] = await app.untilRecorded('?event=enrich&installation_id=9&repository_id=4', 1);
    assert.equal(record?.action, 'done');
    const payload = { action: 'own', installation: { id: 3 } };
    await post({ event: 'kept', payload, app_id: app.id });
    const [kept] = await receiver.until('kept', 1);
    assert.equal(kept?.body, '{"action":"own","installation":{"id":3}}');
    const [own] = await app.untilRecorded('?event=kept&installation_id=3', 1);
    assert.equal(own?.action, 'own');
    await post({ event: 'kept', action: 'own', payload, app_id: app.id });
    await receiver.until('kept', 2);
  });

  it('of a registered installation goes to its app alone', async () => {
    const [installed, other] = [await register(['inst']), await register(['inst'])];
    const made = await server.http.send('/ops/v1/identities', {
      body: JSON.stringify({ kind: 'installation', id: 77, app_id: installed.id }),
      headers: { ...authorized(), 'content-type': 'application/json' },
    });
    assert.equal(made.status, 201, made.text);
    const event = { event: 'inst', payload: { installation: { id: 77 } } };
    assert.deepEqual(appsOf(accepted(await post(event))), [installed.id]);
    const unknown = { event: 'inst', payload: { installation: { id: 78 } } };
    const reached = appsOf(accepted(await post(unknown)));
    assert.ok(reached.includes(installed.id) && reached.includes(other.id));
  });

  it('can be for later', async () => {
    const app = await register(['*']);
    const startMs = Date.now();
    const deliver_at = new Date(startMs + 700).toISOString();
    await post({ event: 'later', payload: {}, app_id: app.id, deliver_at });
    const [received] = await receiver.until('later', 1);
    assert.ok((received?.atMs ?? 0) >= startMs + 700);
  });

  it('is refused when its payload is too large, or anything about it is wrong', async () => {
    const large = await post({ event: 'large', payload: { text: 'x'.repeat(1_048_576) } });
    assert.equal(large.status, 413);
    assert.equal((JSON.parse(large.text) as { message: string }).message, 'Request body too large');
    const huge = await post({ event: 'large', payload: { text: 'x'.repeat(1_200_000) } });
    assert.equal(huge.status, 413);
    const cases: readonly (readonly [object, string, string])[] = [
      [{ payload: {} }, 'event', 'missing_field'],
      [{ event: 'x' }, 'payload', 'missing_field'],
      [{ event: 'ping', payload: {} }, 'event', 'invalid'],
      [{ event: 'Upper', payload: {} }, 'event', 'invalid'],
      [{ event: 'a\r\nX-Evil: 1', payload: {} }, 'event', 'invalid'],
      [{ event: 'x'.repeat(101), payload: {} }, 'event', 'invalid'],
      [{ event: 'x', payload: [] }, 'payload', 'invalid'],
      [{ event: 'x', payload: 'text' }, 'payload', 'invalid'],
      [{ event: 'x', payload: {}, action: 5 }, 'action', 'invalid'],
      [{ event: 'x', payload: { action: 'own' }, action: 'other' }, 'action', 'invalid'],
      [{ event: 'x', payload: { action: 5 }, action: 'other' }, 'action', 'invalid'],
      [{ event: 'x', payload: {}, instalation_id: 5 }, 'instalation_id', 'invalid'],
      [{ event: 'x', payload: {}, installation_id: 0 }, 'installation_id', 'invalid'],
      [{ event: 'x', payload: {}, app_id: 999_999 }, 'app_id', 'missing'],
      [{ event: 'x', payload: {}, id: 'x'.repeat(256) }, 'id', 'invalid'],
      [{ event: 'x', payload: {}, deliver_at: 'soon' }, 'deliver_at', 'invalid'],
      [{ event: 'x', payload: {}, deliver_at: '2999-01-01T00:00:00Z' }, 'deliver_at', 'invalid'],
    ];
    for (const [body, field, code] of cases) {
      const answer = await post(body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      const { errors, message } = JSON.parse(answer.text) as {
        errors: { field: string; code: string }[];
        message: string;
      };
      assert.equal(message, 'Validation Failed');
      assert.deepEqual([errors[0]?.field, errors[0]?.code], [field, code], JSON.stringify(body));
    }
    assert.equal((await post('{')).status, 400);
    assert.equal((await post('[]')).status, 400);
    // JSON is UTF-8: other bytes would be delivered in a changed form.
    const latin = Buffer.from('{"event":"x","payload":{"name":"caf\xe9"}}', 'latin1');
    assert.equal((await post(latin)).status, 400);
    assert.equal((await post(latin, {}, '/batch')).status, 400);
    const anonymous = await server.http.send('/ops/v1/events', { body: '{}' });
    assert.equal(anonymous.status, 401);
  });

  it('in batches is one commit with an answer for each', async () => {
    const app = await register(['*']);
    const lines = [
      { event: 'line', payload: { n: 1 }, app_id: app.id, id: 'b1' },
      { event: 'Bad', payload: {} },
      { event: 'line', payload: { n: 2 }, app_id: app.id, id: 'b1' },
      { event: 'line', payload: { n: 1 }, app_id: app.id, id: 'b1' },
      { event: 'line', payload: { n: 3 }, app_id: app.id },
    ].map((line) => JSON.stringify(line));
    for (const body of [`${lines.join('\n')}\n`, `[${lines.join(' , ')}]`]) {
      const answer = await post(body, {}, '/batch');
      assert.equal(answer.status, 202, answer.text);
      const items = JSON.parse(answer.text) as { guid?: string; status?: string }[];
      assert.deepEqual(
        items.map(({ guid, status }) => (guid === undefined ? status : 'ok')),
        ['ok', '422', '409', 'ok', 'ok'],
      );
      assert.equal(items[3]?.guid, items[0]?.guid);
    }
    await app.untilRecorded('?event=line', 3);
    const tooMany = Array.from({ length: 1001 }, () => ({ event: 'x', payload: {} }));
    assert.equal((await post(tooMany, {}, '/batch')).status, 422);
  });

  it('in batches of lines are read each on its own, unfinished and deep ones, too', async () => {
    const app = await register(['*']);
    const lineOf = (payload: string) =>
      `{"event":"own","app_id":${app.id},"payload":{"a":${payload}}}`;
    const deep = lineOf(`${'['.repeat(200)}${']'.repeat(200)}`);
    const unfinished = Array.from({ length: 130 }, () => '{"event":"own","payload":{');
    // Brackets and strings left open in one line do not affect the next.
    for (const wrong of [unfinished, [']'.repeat(300)], ['"'], [deep]]) {
      const lines = [...wrong, deep, lineOf('1')];
      const answer = await post(lines.join('\n'), {}, '/batch');
      assert.equal(answer.status, 202, answer.text);
      const statuses = (JSON.parse(answer.text) as { status?: string }[]).map(
        (item) => item.status ?? 'ok',
      );
      assert.deepEqual(statuses, [...wrong.map(() => '400'), '400', 'ok']);
    }
    assert.equal((await post(`[${lineOf('1')},${deep}]`, {}, '/batch')).status, 400);
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

  it('logs failed attempts without secrets', async () => {
    const failing = await WebhookReceiver.start((_, response) => response.writeHead(500).end());
    const url = `${failing.url.replace('//', '//user:hidden@')}?key=concealed`;
    const app = await WebhookApp.register(
      server,
      { url, events: ['*'], secret: 'whispered' },
      authorized(),
    );
    const guid = await app.publish('logged');
    await app.untilRecorded('?event=logged', 1);
    await failing.close();
    const line = server.logText.split('\n').find((text) => text.includes(guid)) ?? '';
    const { outcome, status, app: id } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([outcome, status, id], ['answered', 500, app.id]);
    for (const word of ['hidden', 'concealed', 'whispered']) {
      assert.equal(server.logText.includes(word), false, word);
    }
  });
});
