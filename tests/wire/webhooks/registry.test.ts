// Source: webhooks, sections 9 and 10.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeJwt, nowSec, ServerInProcess, WebhookApp } from '../../harness/index.js';

const CONFIG = '/api/v3/app/hook/config';
const HOOK = { url: 'https://example.com/', active: false, events: ['*'] };

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth', '--services=webhooks'] });
});
after(() => server.close());

const post = (body: unknown) => server.http.send('/ops/v1/apps', { body: JSON.stringify(body) });

describe('the registry of apps', () => {
  it('generates a key pair, whose private half is shown once and authenticates the app', async () => {
    const made = await post({ name: 'generated', webhook: HOOK });
    assert.equal(made.status, 201, made.text);
    const { id, pem, hook } = JSON.parse(made.text);
    assert.deepEqual([hook.events, hook.config.url], [HOOK.events, HOOK.url]);
    const jwt = makeJwt(pem, { iss: id, iat: nowSec(), exp: nowSec() + 60 });
    const headers = { authorization: `Bearer ${jwt}` };
    assert.equal((await server.http.send(CONFIG, { headers })).status, 200);
    const shown = await server.http.send(`/ops/v1/apps/${id}`);
    assert.equal(shown.text.includes('pem'), false);
  });

  it('refuses what is wrong with the app or its webhook, and changes nothing', async () => {
    const before = (await server.http.send('/ops/v1/apps')).text;
    for (const [body, field, code] of [
      [{ webhook: HOOK }, 'name', 'missing_field'],
      [{ name: 'y', webhook: { url: 'ftp://x/' } }, 'url', 'custom'],
      [{ name: 'y', webhook: { custom_headers: { Host: 'x' } } }, 'custom_headers', 'invalid'],
    ] as const) {
      const { status, text } = await post(body);
      assert.equal(status, 422, text);
      const [error] = JSON.parse(text).errors;
      assert.deepEqual([error.field, error.code], [field, code]);
    }
    assert.equal((await server.http.send('/ops/v1/apps')).text, before);
  });

  it('shows the attempts of the last hour and the retry delays with an app', async () => {
    const app = await WebhookApp.register(server, HOOK);
    const { hook } = JSON.parse((await app.operate('GET', '')).text);
    assert.deepEqual(hook.last_hour, { deliveries: 0, failed: 0, p95_duration: null });
    const { start, ...history } = hook.history;
    const none = Array(24).fill(0);
    assert.deepEqual(history, { bucket_seconds: 900, succeeded: none, failed: none });
    // The last of the 24 buckets is the current one; a bucket may have ended since the request.
    const age = Date.now() - Date.parse(start);
    assert.ok(age >= 23 * 900_000 && age < 25 * 900_000, start);
    assert.equal(Date.parse(start) % 900_000, 0);
    assert.deepEqual(hook.retry_delays, {
      default: [],
      standard: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    });
    await app.operate('DELETE', '');
  });

  it('checks a URL before a webhook uses it', async () => {
    const check = async (url: string) => {
      const path = `/ops/v1/webhook-targets?${new URLSearchParams({ url })}`;
      const { status, text } = await server.http.send(path);
      assert.equal(status, 200, text);
      return JSON.parse(text);
    };
    assert.deepEqual(await check('https://example.com'), { allowed: true, problem: null });
    const problem =
      '10.0.0.1 is in the blocked range 10.0.0.0/8; use a public address, or add the range to webhooks.allow_private_targets';
    assert.deepEqual(await check('http://10.0.0.1'), { allowed: false, problem });
    assert.equal((await server.http.send('/ops/v1/webhook-targets')).status, 422);
  });

  it('removes the webhook with its app, and sends nothing to a suspended app', async () => {
    const app = await WebhookApp.register(server, { ...HOOK, active: true });
    const targets = async () => {
      const body = JSON.stringify({ event: 'held', payload: {} });
      return JSON.parse((await server.http.send('/ops/v1/events', { body })).text).targets.length;
    };
    assert.equal(await targets(), 1);
    await app.operate('POST', '/suspend');
    assert.equal(await targets(), 0);
    assert.equal((await app.operate('DELETE', '')).status, 204);
    assert.equal((await app.call(CONFIG)).status, 404);
    assert.equal((await app.operate('GET', '')).status, 404);
    assert.equal((await app.operate('GET', '/queue')).status, 404);
  });
});
