// Source: webhooks, sections 9 and 10.
import assert from 'node:assert/strict';
import { createHash, createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  makeJwt,
  nowSec,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

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

const CONFIG = '/api/v3/app/hook/config';
const makePair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
const post = async (body: unknown, path = '') =>
  await server.http.send(`/ops/v1/apps${path}`, { body: JSON.stringify(body) });

describe('the registry of apps', () => {
  it('takes a public key, or makes a pair and shows the private half once', async () => {
    const { publicKey, privateKey } = makePair();
    const made = JSON.parse((await post({ name: 'brought', public_key: publicKey })).text) as {
      id: number;
      pem?: string;
      public_keys: { fingerprint: string }[];
    };
    assert.equal(made.pem, undefined);
    const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' });
    assert.equal(
      made.public_keys[0]?.fingerprint,
      createHash('sha256').update(der).digest('base64'),
    );
    const jwt = makeJwt(privateKey, { iss: made.id, iat: nowSec(), exp: nowSec() + 60 });
    const headers = { authorization: `Bearer ${jwt}` };
    assert.equal((await server.http.send(CONFIG, { headers })).status, 200);
    const pkcs1 = JSON.parse((await post({ name: 'one' }, '?format=pkcs1')).text) as {
      pem: string;
    };
    assert.match(pkcs1.pem, /^-----BEGIN RSA PRIVATE KEY-----/);
    const shown = await server.http.send(`/ops/v1/apps/${made.id}`);
    assert.equal(shown.text.includes('pem'), false);
  });

  it('keeps at most 25 keys and never loses the last', async () => {
    const app = await WebhookApp.register(server, undefined);
    const { publicKey } = makePair();
    const first = JSON.parse((await app.operate('GET', '')).text) as {
      public_keys: { id: number }[];
    };
    const last = await app.operate('DELETE', `/keys/${first.public_keys[0]?.id}`);
    assert.equal(last.status, 422);
    assert.equal((await app.operate('POST', '/keys', { public_key: publicKey })).status, 201);
    assert.equal((await app.operate('POST', '/keys', { public_key: publicKey })).status, 422);
    const { keys } = await addKeys(app, 23);
    assert.equal(keys, 25);
    assert.equal((await app.operate('POST', '/keys')).status, 422);
    const gone = await app.operate('DELETE', `/keys/${first.public_keys[0]?.id}`);
    assert.equal(gone.status, 204);
    assert.equal((await app.call(CONFIG)).status, 401, 'the key is worth nothing any more');
  });

  it('refuses what is wrong, names the field and changes nothing', async () => {
    const before = (await server.http.send('/ops/v1/apps?per_page=100')).text;
    const cases: readonly (readonly [object, string, string])[] = [
      [{}, 'name', 'missing_field'],
      [{ name: '' }, 'name', 'custom'],
      [{ name: 'x'.repeat(65) }, 'name', 'custom'],
      [{ name: 'brought' }, 'name', 'already_exists'],
      [{ name: 'y', slug: 'No Slug' }, 'slug', 'invalid'],
      [{ name: 'y', owner: { login: 'o', id: 0 } }, 'owner.id', 'invalid'],
      [{ name: 'y', public_key: 'no key' }, 'public_key', 'custom'],
      [{ name: 'y', webhook: { url: 'ftp://x/' } }, 'url', 'custom'],
      [{ name: 'y', webhook: { events: 'issues' } }, 'events', 'invalid'],
      ...[
        ...['Host', 'content-length', 'Transfer-Encoding', 'Authorization', 'Proxy-Authorization'],
        ...['X-Hub-Signature-256', 'webhook-signature', 'X-Vendor-Event', 'X-GitHub-Delivery'],
        ...['x-vendor-hook-id', 'A B', 'A\r\nB', 'A:', ''],
      ].map(
        (header) =>
          [
            { name: 'y', webhook: { custom_headers: { [header]: 'x' } } },
            'custom_headers',
            'invalid',
          ] as const,
      ),
      [{ name: 'y', webhook: { custom_headers: { A: 'x\0y' } } }, 'custom_headers', 'invalid'],
      [{ name: 'y', webhook: { custom_headers: { A: 'x\r\ny' } } }, 'custom_headers', 'invalid'],
      [{ name: 'y', webhook: { custom_headers: { A: '1 €' } } }, 'custom_headers', 'invalid'],
      [{ name: 'y', webhook: { retry: { policy: 'often' } } }, 'retry', 'invalid'],
      ...[[604_801], [-1], [], ['5'], Array.from({ length: 21 }, () => 1)].map(
        (schedule) =>
          [
            { name: 'y', webhook: { retry: { policy: 'schedule', schedule } } },
            'retry',
            'invalid',
          ] as const,
      ),
    ];
    for (const [body, field, code] of cases) {
      const answer = await post(body);
      assert.equal(answer.status, 422, JSON.stringify(body));
      const { errors } = JSON.parse(answer.text) as { errors: { field: string; code: string }[] };
      assert.ok(
        errors.some((error) => error.field === field && error.code === code),
        answer.text,
      );
    }
    assert.equal((await server.http.send('/ops/v1/apps?per_page=100')).text, before);
    for (const [method, path] of [
      ['GET', '/ops/v1/apps/99999'],
      ['DELETE', '/ops/v1/apps/99999'],
      ['POST', '/ops/v1/apps/99999/ping'],
      ['GET', '/ops/v1/apps/Iv23none/queue'],
    ] as const) {
      assert.equal((await server.http.send(path, { method })).status, 404, path);
    }
  });

  it('ends everything of an app with it', async () => {
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    assert.equal((await app.operate('DELETE', '')).status, 204);
    assert.equal((await app.call(CONFIG)).status, 404);
    assert.equal((await app.operate('GET', '')).status, 404);
  });

  it('holds the deliveries of a suspended app', async () => {
    const app = await WebhookApp.register(server, { url: receiver.url, events: ['*'] });
    await app.untilRecorded('?event=ping', 1);
    await app.operate('POST', '/suspend');
    const answer = await server.http.send('/ops/v1/events', {
      body: JSON.stringify({ event: 'held', payload: {}, app_id: app.id }),
    });
    assert.deepEqual((JSON.parse(answer.text) as { targets: unknown[] }).targets, []);
  });
});

describe('the secret', () => {
  it('is rotated while the old one stays valid', async () => {
    const app = await WebhookApp.register(server, {
      url: receiver.url,
      events: ['*'],
      secret: 'old',
      standard_webhooks: 'hmac',
    });
    const signatureOf = async (event: string) => {
      await app.publish(event);
      const [received] = await receiver.until(event, 1);
      return received;
    };
    const sign = (secret: string, body: string) =>
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const kept = await app.operate('POST', '/secret/rotate', { secret: 'new', sign_with: 'old' });
    assert.equal(kept.status, 200, kept.text);
    const first = await signatureOf('rotated-old');
    assert.equal(first?.headers['x-hub-signature-256'], sign('old', first?.body ?? ''));
    assert.equal(String(first?.headers['webhook-signature']).split(' ').length, 2);
    const made = await app.operate('POST', '/secret/rotate', {});
    const { secret } = JSON.parse(made.text) as { secret: string };
    const second = await signatureOf('rotated-new');
    assert.equal(second?.headers['x-hub-signature-256'], sign(secret, second?.body ?? ''));
    await app.patch({ secret: 'alone' });
    const third = await signatureOf('replaced');
    assert.equal(third?.headers['x-hub-signature-256'], sign('alone', third?.body ?? ''));
    assert.equal(String(third?.headers['webhook-signature']).split(' ').length, 1);
    assert.equal((await app.operate('POST', '/secret/rotate', { secret: 5 })).status, 422);
    assert.equal((await app.operate('POST', '/secret/rotate', { secrt: 'new' })).status, 422);
    assert.equal((await app.operate('POST', '/redrive', { dryrun: true })).status, 422);
    assert.equal((await app.operate('POST', '/keys', { publickey: 'x' })).status, 422);
  });

  it('is nowhere on the disk, nor is what stands in the URL', async () => {
    const secret = 'a-secret-that-is-easy-to-find';
    const url = receiver.url.replace('//', '//someone:findable-password@');
    const app = await WebhookApp.register(server, { url, events: ['*'], secret });
    await app.untilRecorded('?event=ping', 1);
    const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name), 'latin1');
      for (const word of [secret, 'findable-password']) {
        assert.equal(bytes.includes(word), false, file.name);
      }
    }
  });
});

async function addKeys(app: WebhookApp, count: number): Promise<{ readonly keys: number }> {
  for (let index = 0; index < count; index++) {
    const { publicKey } = makePair();
    const answer = await app.operate('POST', '/keys', { public_key: publicKey });
    assert.equal(answer.status, 201, answer.text);
  }
  const shown = JSON.parse((await app.operate('GET', '')).text) as { public_keys: unknown[] };
  return { keys: shown.public_keys.length };
}
