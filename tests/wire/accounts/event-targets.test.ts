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

/** One for each set of settings, which a server reads at its start. */
async function start(...flags: string[]): Promise<AccountsServer> {
  const server = await AccountsServer.start({ flags });
  open.push(server);
  return server;
}

/** For tests that need no other settings. */
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

/** Sends one event there. */
async function ping(server: AccountsServer, url: string): Promise<Json> {
  const { id } = await server.ok(PATH, { body: destination(url) });
  return await server.ok(`${PATH}/${id}/ping`, { body: {} });
}

/** The number of attempts that ended so, as soon as there is one. Each outcome belongs to one test of a shared server. */
async function attempts(server: AccountsServer, outcome: string): Promise<number> {
  const line = new RegExp(`^accounts_event_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm');
  for (const endMs = Date.now() + 15_000; ; ) {
    const { text } = await server.process.http.send('/metrics');
    const found = line.exec(text)?.[1];
    if (found !== undefined) return Number(found);
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
  it('are not reached under a name that leads into the own network', async (t) => {
    const name = hostname();
    const found = await lookup(name).catch(() => undefined);
    if (found === undefined) return t.skip(`${name} has no address`);
    const receiver = await receive();
    const { port } = new URL(receiver.url);
    const url = `http://${name}:${port}/hook`;
    // What webhooks may reach says nothing of these.
    const guarded = await start(`--webhooks-allow-private-targets=${name}`);
    await ping(guarded, url);
    assert.equal(await attempts(guarded, 'host_unreachable'), 1);
    assert.equal(receiver.received.length, 0);
    assert.match(guarded.process.logText, /blocked address: /);
    // Allowed by its name it is not judged by its address.
    const allowing = await start(`--accounts-allow-private-targets=${name}`);
    const { id } = await ping(allowing, url);
    await receiver.event((event) => event.id === id);
  });

  it('are refused on ports that are not allowed, and so are those of webhooks', async () => {
    const receiver = await receive();
    const { port } = new URL(receiver.url);
    const server = await start(LOOPBACK, `--webhooks-allowed-ports=443,${port}`);
    const { id } = await ping(server, receiver.url);
    await receiver.event((event) => event.id === id);
    await refusal(server, 'http://127.0.0.1:25/');
    await refusal(server, 'http://example.com/');
  });

  it('that were stored while their port was allowed are not reached after it is no more', async () => {
    const receiver = await receive();
    const server = await start(LOOPBACK); // its data folder is started again
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

  it('are reached through the proxy, by the address that was checked', async () => {
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

  it('are reached past the proxy where the settings say so', async () => {
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

  it('need a certificate of an authority that is known or named', async () => {
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

  it('are not followed to where they redirect', async () => {
    const receiver = await receive();
    const inner = await receive();
    receiver.status = 307;
    receiver.headers = { location: inner.url };
    const server = await onLoopback();
    await ping(server, receiver.url);
    assert.equal(await attempts(server, 'http_error'), 1);
    assert.equal(inner.received.length, 0);
  });

  it('of a start with a file of authorities that is missing are not served', async () => {
    const flags = ['--accounts-extra-ca-file=/nowhere/ca.pem'];
    await assert.rejects(AccountsServer.start({ flags }), /\/nowhere\/ca\.pem/);
  });
});
