// Source: accounts, section 17.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AnyJson, TestAccounts } from '../../testing/test-accounts.js';

const PATH = '/v2/core/event_destinations';

async function start(context: TestContext): Promise<TestAccounts> {
  const flags = { 'accounts-allow-private-targets': '127.0.0.0/8' };
  const server = new TestAccounts(flags, { delivers: true });
  context.after(async () => await server[Symbol.asyncDispose]());
  return server;
}

async function urlOf(context: TestContext, receiver: Server): Promise<string> {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  context.after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`; // the receiver listens on a port
}

const destination = (url: string, type: string) => ({
  name: 'Target',
  type: 'webhook_endpoint',
  event_payload: 'thin',
  enabled_events: [type],
  webhook_endpoint: { url },
  include: ['webhook_endpoint.signing_secret'],
});

/** Repeats `read` until `fits` accepts its value, because connections do not use the test clock. */
async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (let round = 0; round < 1000; round += 1) {
    const value = await read();
    if (fits(value)) return value;
    await sleep(5);
  }
  return assert.fail('what was expected did not come');
}

it('retries a rejected event after five seconds and records each attempt', async (context) => {
  const server = await start(context);
  const bodies: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(bodies.length === 1 ? 500 : 200).end();
    });
  });
  const call = {
    body: destination(await urlOf(context, receiver), 'v2.core.account.created'),
    idempotencyKey: 'destination-again',
  };
  const first = await server.call(PATH, call);
  const second = await server.call(PATH, call);
  assert.equal(first.text, second.text, 'a repeat gets the secret, too');
  assert.equal(second.headers['idempotent-replayed'], 'true');
  const { id } = JSON.parse(first.text);
  const path = `platforms/plat_default/event_destinations/${id}/attempts`;
  const attempts = async (): Promise<AnyJson[]> => (await server.operate(path)).data;

  const account = await server.create({});
  await until(attempts, ({ length }) => length === 1);
  await server.clock.advanceMs(4000);
  assert.equal((await attempts()).length, 1);
  // The retry may be scheduled after its attempt is visible, so the clock keeps running.
  const laterAttempts = async (): Promise<AnyJson[]> => {
    await server.clock.advanceMs(500);
    return await attempts();
  };
  const made = await until(laterAttempts, ({ length }) => length === 2);
  const known = made.map(({ attempted, duration_ms, ...rest }) => {
    assert.match(attempted, /^\d{4}-\d\d-\d\dT/);
    assert.ok(duration_ms >= 0);
    return rest;
  });
  const [event] = bodies.map((body) => JSON.parse(body));
  assert.equal(event.related_object.id, account.id);
  assert.equal(bodies[1], bodies[0]);
  const same = { event: event.id, outcome: 'answered', error: null };
  assert.deepEqual(known, [
    { ...same, attempt: 2, status: 200 },
    { ...same, attempt: 1, status: 500 },
  ]);
  for (const missing of [path.replace(id, 'ed_test_none'), path.replace('default', 'none')]) {
    assert.equal((await server.sendOps('GET', missing)).status, 404, missing);
  }
});

it('limits the slots that unresponsive destinations of one platform occupy', async (context) => {
  const server = await start(context);
  const warnings: string[] = [];
  const note = ({ name }: Error) => {
    if (name === 'MaxListenersExceededWarning') warnings.push(name);
  };
  process.on('warning', note);
  context.after(() => process.off('warning', note));
  let atOnce = 0;
  let most = 0;
  const mostAt = [0, 0, 0];
  const urls: string[] = [];
  for (const host of mostAt.keys()) {
    let here = 0;
    const silent = createServer((request) => {
      mostAt[host] = Math.max(mostAt[host] ?? 0, ++here);
      most = Math.max(most, ++atOnce);
      request.on('close', () => {
        here -= 1;
        atOnce -= 1;
      });
    });
    urls.push(await urlOf(context, silent));
  }
  for (let number = 0; number < 15; number += 1) {
    const body = destination(`${urls[number % 3]}${number}`, 'v2.core.account.created');
    await server.ok(PATH, { body });
  }
  for (let number = 0; number < 40; number += 1) await server.create({});
  // 600 deliveries wait for three hosts. 32 per host would be 96, but the limit per platform is 64.
  await until(
    async () => most,
    (count) => count >= 64,
  );
  for (let round = 0; round < 20; round += 1) {
    await server.clock.advanceMs(100);
    await sleep(10);
  }
  assert.equal(most, 64);
  for (const count of mostAt) assert.ok(count <= 32, `${count} at one host`);
  assert.deepEqual(warnings, [], 'requests at once are no leak');
});
