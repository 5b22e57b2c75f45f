// Source: webhooks, sections 4.1, 5.2 and 9.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Json, ServerInProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';

let server: ServerInProcess;
let receiver: WebhookReceiver;
let app: WebhookApp;
let guid: string;

const SECRETS = {
  header: 'header-value-7c1f',
  query: 'query-value-93ab',
  bare: 'bare-piece-55de',
  path: 'path-piece-1f0a',
  user: 'user-name-0b42',
  password: 'pass-word-e9d1',
  secret: 'signing-secret-46ca',
};
const CUSTOM = { 'X-Api-Key': SECRETS.header, 'X-Other': 'second-header-value-2ab8' };

before(async () => {
  receiver = await WebhookReceiver.start((_, response) => response.writeHead(500).end());
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
      '--log-level=debug',
    ],
  });
  const { query, bare, path, user, password, secret } = SECRETS;
  const login = `http://${user}:${password}@`;
  const url = `${receiver.url.replace('http://', login)}/${path}?key=${query}&${bare}&key=second`;
  app = await WebhookApp.register(server, { url, events: ['*'], secret, custom_headers: CUSTOM });
  guid = await app.publish('told');
  await app.untilRecorded('?event=told', 1);
  await app.untilRecorded('?event=ping', 1);
});
after(async () => {
  await receiver.close();
  await server.close();
});

const shown = async (): Promise<Json> => JSON.parse((await app.operate('GET', '')).text).hook;
const maskedUrl = () =>
  `${receiver.url.replace('http://', 'http://***:***@')}/${SECRETS.path}?key=***&***&key=***`;

function assertNone(text: string, where: string, except: readonly string[] = []): void {
  for (const [name, secret] of Object.entries({ ...SECRETS, second: CUSTOM['X-Other'] })) {
    if (!except.includes(name)) assert.equal(text.includes(secret), false, `${name} in ${where}`);
  }
}

describe('secret parts of a webhook', () => {
  it('reach the receiver', async () => {
    const [delivery] = await receiver.until('told', 1);
    assert.equal(delivery?.headers['x-api-key'], SECRETS.header);
    assert.equal(
      delivery?.path,
      `/hook/${SECRETS.path}?key=${SECRETS.query}&${SECRETS.bare}&key=second`,
    );
    const login = Buffer.from(`${SECRETS.user}:${SECRETS.password}`).toString('base64');
    assert.equal(delivery?.headers.authorization, `Basic ${login}`);
  });

  it('are masked in the registry of apps, one by one and in the list', async () => {
    for (const path of ['/ops/v1/apps', `/ops/v1/apps/${app.id}`]) {
      const { text } = await server.http.send(path);
      assertNone(text, path, ['path']);
      assert.ok(text.includes(JSON.stringify({ 'X-Api-Key': '********', 'X-Other': '********' })));
    }
    assert.equal((await shown()).config.url, maskedUrl());
  });

  it('are masked in records of deliveries and in pings, and the names of headers are shown', async () => {
    for (const event of ['told', 'ping']) {
      const [record] = await app.untilRecorded(`?event=${event}`, 1);
      const own = await app.call(`/api/v3/app/hook/deliveries/${record?.id}`);
      // The app owns the URL, so its path and query are not masked.
      assertNone(own.text, `${event} for the app`, ['path', 'query', 'bare']);
      const { url, request } = JSON.parse(own.text);
      assert.equal(new URL(url).search, `?key=${SECRETS.query}&${SECRETS.bare}&key=second`);
      assert.equal(request.headers['X-Api-Key'], '********');
      assert.equal(request.headers.Authorization, '********');
      assert.equal(request.headers['X-Vendor-Event'], event);
      const operator = await app.operate('GET', `/deliveries/${record?.id}`);
      assertNone(operator.text, `${event} for the operator`, ['path']);
      assert.equal(JSON.parse(operator.text).url, maskedUrl());
    }
  });

  it('are in no file of the data folder and in no log line', async () => {
    await server.stop();
    assertNone(server.logText, 'the log', ['path']);
    assert.match(server.logText, /attempt failed/);
    let fileCount = 0;
    for (const entry of await readdir(server.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const text = (await readFile(path)).toString('latin1');
      fileCount += text.includes(guid) ? 1 : 0;
      // A ping shows the path to its receiver.
      assertNone(text, path, ['path']);
    }
    assert.ok(fileCount > 0, 'the record is in one of the files');
  });
});
