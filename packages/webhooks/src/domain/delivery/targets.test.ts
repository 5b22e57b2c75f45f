// Source: webhooks, sections 5.4, 9 and 15.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type TestApp, TestWebhooks } from '../../testing/test-webhooks.js';

const ALLOWED = 'webhooks-allow-private-targets';
const CERTIFICATE = tlsFile('cert');

function tlsFile(name: string): string {
  const path = `../../../../../tests/harness/tls/first-${name}.pem`;
  return fileURLToPath(new URL(path, import.meta.url));
}

async function statusOf(app: TestApp): Promise<string> {
  await app.publish('probe');
  const [record] = await app.untilRecorded('event=probe', 1);
  return record.status;
}

it('trusts only known certificate authorities, unless the webhook is insecure', async (t) => {
  const pair = { key: readFileSync(tlsFile('key')), cert: readFileSync(CERTIFICATE) };
  const secure = createServer(pair, (request, response) => {
    request.resume().on('end', () => response.end('safe'));
  });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  t.after(() => secure.close().closeAllConnections());
  const url = `https://localhost:${(secure.address() as AddressInfo).port}/`;
  const check = async (flags: Record<string, string>, insecure_ssl: string): Promise<string> => {
    await using test = await TestWebhooks.start({ [ALLOWED]: 'localhost', ...flags });
    return await statusOf(await test.register({ url, insecure_ssl, events: ['probe'] }));
  };
  const untrusted = 'Peer certificate cannot be authenticated with given CA certificates';
  assert.equal(await check({}, '0'), untrusted);
  assert.equal(await check({}, '1'), 'OK');
  assert.equal(await check({ 'webhooks-extra-ca-file': CERTIFICATE }, '0'), 'OK');
});

it('checks the address of a name at the connection, unless the name is allowed', async () => {
  // Any name of this machine that is not refused by its form.
  const name = hostname();
  const check = async (allowed: string, host: string): Promise<number | string> => {
    await using test = await TestWebhooks.start({ [ALLOWED]: allowed });
    const receiver = await test.receive();
    const url = receiver.url.replace('127.0.0.1', host);
    const status = await statusOf(await test.register({ url, events: ['probe'] }));
    return receiver.deliveries.length === 0 ? status : 'delivered';
  };
  assert.equal(await check('192.0.2.1', name), 'failed to connect to host');
  assert.notEqual(await check(name, name), 'failed to connect to host');
  assert.equal(await check('localhost', 'localhost'), 'delivered');
  await using test = await TestWebhooks.start({ [ALLOWED]: 'localhost' });
  await assert.rejects(test.register({ url: 'http://127.0.0.1/' }), { name: 'ValidationFailed' });
});
