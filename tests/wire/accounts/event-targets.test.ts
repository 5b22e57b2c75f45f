// Source: accounts, section 17.3; webhooks, sections 6.6 and 9.
import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  EgressProxy,
  EventReceiver,
  type Json,
  testCertificate,
} from '../../harness/index.js';

const open: { close(): unknown }[] = [];
after(async () => {
  for (const one of open) await one.close();
});

const PATH = '/v2/core/event_destinations';
const LOOPBACK = '--accounts-allow-private-targets=127.0.0.0/8';

/** Starts a server per set of settings, which are read at startup. */
async function start(...flags: string[]): Promise<AccountsServer> {
  const server = await AccountsServer.start({ flags });
  open.push(server);
  return server;
}

/** Shared by the tests that need no other settings. */
let shared: Promise<AccountsServer> | undefined;
const onLoopback = (): Promise<AccountsServer> => {
  shared ??= start(LOOPBACK);
  return shared;
};

async function receive(): Promise<EventReceiver> {
  const receiver = await EventReceiver.start();
  open.push(receiver);
  return receiver;
}

const destination = (url: string) => ({
  name: 'Target',
  type: 'webhook_endpoint',
  event_payload: 'thin',
  enabled_events: ['v2.core.account.closed'],
  webhook_endpoint: { url },
});

/** Creates a destination for `url` and sends it one ping event. */
async function ping(server: AccountsServer, url: string): Promise<Json> {
  const { id } = await server.ok(PATH, { body: destination(url) });
  return await server.ok(`${PATH}/${id}/ping`, { body: {} });
}

/**
 * Number of attempts with this outcome, as soon as there is one. On the shared server, each outcome
 * belongs to one test.
 */
async function attempts(server: AccountsServer, outcome: string): Promise<number> {
  const line = new RegExp(`^accounts_event_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm');
  for (const endMs = Date.now() + 15_000; ; ) {
    const { text } = await server.process.http.send('/metrics');
    const found = line.exec(text)?.[1];
    if (found !== undefined && found !== '0') return Number(found);
    assert.ok(Date.now() < endMs, text);
    await sleep(50);
  }
}

const refusal = async (server: AccountsServer, url: string): Promise<void> => {
  const call = { body: destination(url) };
  const { message } = await server.refused(PATH, call, { code: 'invalid_fields' });
  assert.match(message, /address that is not allowed/);
};

describe('event destinations', () => {
  it('are not reached under a name that resolves to the private network', async (t) => {
    const name = hostname();
    const found = await lookup(name).catch(() => undefined);
    if (found === undefined) return t.skip(`${name} has no address`);
    const receiver = await receive();
    const { port } = new URL(receiver.url);
    const url = `http://${name}:${port}/hook`;
    // The private targets of webhooks do not apply to event destinations.
    const guarded = await start(`--webhooks-allow-private-targets=${name}`);
    await ping(guarded, url);
    assert.equal(await attempts(guarded, 'host_unreachable'), 1);
    assert.equal(receiver.received.length, 0);
    assert.match(guarded.process.logText, /blocked address: /);
    // A target allowed by name is not checked by address.
    const allowing = await start(`--accounts-allow-private-targets=${name}`);
    const { id } = await ping(allowing, url);
    await receiver.event((event) => event.id === id);
  });

  it('are refused on ports that are not allowed, as webhooks are', async () => {
    const receiver = await receive();
    const { port } = new URL(receiver.url);
    const server = await start(LOOPBACK, `--webhooks-allowed-ports=443,${port}`);
    const { id } = await ping(server, receiver.url);
    await receiver.event((event) => event.id === id);
    await refusal(server, 'http://127.0.0.1:25/');
    await refusal(server, 'http://example.com/');
  });

  it('are not reached after their port is no longer allowed', async () => {
    const receiver = await receive();
    const server = await start(LOOPBACK); // its data folder is used again below
    const { id } = await server.ok(PATH, { body: destination(receiver.url) });
    const { dataDir } = server.process;
    await server.process.stop();
    const flags = [LOOPBACK, '--accounts-allowed-ports=443'];
    const narrowed = await AccountsServer.start({ flags, dataDir });
    open.push(narrowed);
    await narrowed.ok(`${PATH}/${id}/ping`, { body: {} });
    assert.equal(await attempts(narrowed, 'host_unreachable'), 1);
    assert.equal(receiver.received.length, 0);
  });

  it('are reached through the proxy by the checked address', async () => {
    const receiver = await receive();
    const proxy = await EgressProxy.start('http');
    open.push(proxy);
    const server = await start(LOOPBACK, `--accounts-egress-proxy=${proxy.url}`);
    const { id } = await ping(server, receiver.url.replace('127.0.0.1', hostname()));
    const { headers } = await receiver.event((event) => event.id === id);
    const { port } = new URL(receiver.url);
    assert.equal(headers.host, `${hostname()}:${port}`);
    assert.deepEqual(proxy.targets, [`127.0.0.1:${port}`]);
  });

  it('bypass the proxy if the settings exclude them', async () => {
    const receiver = await receive();
    const proxy = await EgressProxy.start('http');
    open.push(proxy);
    const server = await start(
      LOOPBACK,
      `--accounts-egress-proxy=${proxy.url}`,
      '--accounts-egress-no-proxy=127.0.0.1',
    );
    const { id } = await ping(server, receiver.url);
    await receiver.event((event) => event.id === id);
    assert.deepEqual(proxy.targets, []);
  });

  it('need a certificate from a public or configured authority', async () => {
    const { keyFile, certFile } = testCertificate('first');
    let count = 0;
    const secure = createSecureServer(
      { key: readFileSync(keyFile), cert: readFileSync(certFile) },
      (request, response) => {
        count += 1;
        request.resume();
        response.end();
      },
    );
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    open.push(secure);
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    const wary = await onLoopback();
    await ping(wary, url);
    assert.equal(await attempts(wary, 'certificate_refused'), 1);
    assert.equal(count, 0);
    const trusting = await start(LOOPBACK, `--accounts-extra-ca-file=${certFile}`);
    await ping(trusting, url);
    assert.equal(await attempts(trusting, 'ok'), 1);
    secure.closeAllConnections();
  });

  it('are not followed to their redirect targets', async () => {
    const receiver = await receive();
    const inner = await receive();
    receiver.status = 307;
    receiver.headers = { location: inner.url };
    const server = await onLoopback();
    await ping(server, receiver.url);
    assert.equal(await attempts(server, 'http_error'), 1);
    assert.equal(inner.received.length, 0);
  });

  it('prevent startup if the configured authorities file is missing', async () => {
    const flags = ['--accounts-extra-ca-file=/nowhere/ca.pem'];
    await assert.rejects(AccountsServer.start({ flags }), /\/nowhere\/ca\.pem/);
  });
});
