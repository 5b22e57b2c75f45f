// Source: webhooks, section 11; docs/adr/0060-webhook-queue.md.
// Own process: nodes are suspended and killed.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  layDatabaseCable,
  POSTGRES_URL,
  type ReceivedDelivery,
  type RunningServer,
  ServerInProcess,
  ServerProcess,
  TestDatabase,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const skip = POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';
/** Concurrent attempts per node. */
const AT_ONCE = 4;
const RESPONSE_MS = 40;

interface NodeOptions {
  readonly databaseFlag: string;
  readonly dataDir?: string;
  readonly flags?: readonly string[];
  readonly speed?: number;
}

/** Speed of the clocks in tests whose nodes all run in this process. */
const SPEED = 6;

const optionsOf = ({ databaseFlag, dataDir, flags = [], speed }: NodeOptions) => ({
  flags: [
    '--without-auth',
    '--services=webhooks',
    '--webhooks-allow-private-targets=127.0.0.0/8',
    `--webhooks-concurrency-app=${AT_ONCE}`,
    databaseFlag,
    ...flags,
  ],
  env: { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' },
  ...(dataDir !== undefined && { dataDir }),
  ...(speed !== undefined && { speed }),
});

async function startNode(context: TestContext, options: NodeOptions): Promise<ServerInProcess> {
  const server = await ServerInProcess.start(optionsOf(options));
  context.after(() => server.close());
  return server;
}

/** Starts a node that the test suspends or kills. */
async function startProcess(context: TestContext, options: NodeOptions): Promise<ServerProcess> {
  const server = await ServerProcess.start(optionsOf(options));
  context.after(async () => {
    if (server.isRunning) server.signal('SIGCONT');
    await server.close();
  });
  return server;
}

async function receive(context: TestContext): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start((_, response) => {
    setTimeout(() => response.end('ok'), RESPONSE_MS);
  });
  context.after(() => receiver.close());
  return receiver;
}

const guidOf = ({ headers }: ReceivedDelivery): string => String(headers['x-vendor-delivery']);

/** Publishes numbered events and returns their GUIDs. */
async function publish(
  server: RunningServer,
  app: WebhookApp,
  count: number,
  keyOf: (number: number) => string | undefined = () => undefined,
): Promise<readonly string[]> {
  const publishOne = async (number: number): Promise<string> => {
    const key = keyOf(number);
    const response = await server.http.send('/ops/v1/events', {
      body: JSON.stringify({
        event: 'load',
        payload: { number, key },
        app_id: app.id,
        ...(key !== undefined && { ordering_key: key }),
      }),
    });
    assert.equal(response.status, 202, response.text);
    return (JSON.parse(response.text) as { guid: string }).guid;
  };
  const guids: string[] = [];
  for (let number = 0; number < count; number += 1) guids.push(await publishOne(number));
  return guids;
}

async function untilAll(
  receiver: WebhookReceiver,
  guids: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const come = new Set(receiver.of('load').map(guidOf));
    const missing = guids.filter((guid) => !come.has(guid));
    if (missing.length === 0) return;
    assert.ok(Date.now() < endMs, `${missing.length} of ${guids.length} did not come in time`);
    await sleep(50);
  }
}

function guidsTwice(receiver: WebhookReceiver): readonly string[] {
  const all = receiver.of('load').map(guidOf);
  return all.filter((guid, index) => all.indexOf(guid) < index);
}

const timesTwice = (receiver: WebhookReceiver): number => guidsTwice(receiver).length;

/** Reads the GUIDs left in the shared queue: deliveries without a record. */
async function readQueue(databaseUrl: string): Promise<ReadonlySet<string>> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ guid: string }>('select guid from webhooks_queue');
    return new Set(rows.map(({ guid }) => guid));
  } finally {
    await client.end();
  }
}

/** Numbers of a key that arrived after a greater one. */
function outOfOrder(receiver: WebhookReceiver): readonly string[] {
  const last = new Map<string, number>();
  const wrong: string[] = [];
  for (const { body } of receiver.of('load')) {
    const { key, number } = JSON.parse(body) as { key: string; number: number };
    if (number < (last.get(key) ?? -1)) wrong.push(`${key}: ${number} behind ${last.get(key)}`);
    last.set(key, Math.max(number, last.get(key) ?? -1));
  }
  return wrong;
}

for (const [what, ordering] of [
  ['', undefined],
  [', out of the order of their keys', 'key'],
] as const) {
  it(`a node that was stopped for a while sent again what others had taken over${what}`, {
    skip,
    timeout: 120_000,
  }, async (context) => {
    await using database = await TestDatabase.create();
    const databaseFlag = `--server-database-url=${database.url}`;
    const receiver = await receive(context);
    const one = await startProcess(context, { databaseFlag });
    const hook = { url: receiver.url, events: ['load'], ...(ordering && { ordering }) };
    const app = await WebhookApp.register(one, hook);
    const keyOf = (number: number) => (ordering === undefined ? undefined : `k${number % 30}`);
    const guids = await publish(one, app, 200, keyOf);
    one.signal('SIGSTOP'); // with most deliveries in its memory
    await sleep(500); // Its requests complete at the database and at the receiver.
    const unrecorded = await readQueue(database.url);
    const sent = new Set(receiver.of('load').map(guidOf));
    await startNode(context, { databaseFlag });
    await untilAll(receiver, guids, 60_000);
    one.signal('SIGCONT');
    await sleep(5000);
    // Only deliveries sent without a record came from both nodes; the resumed node caused no others.
    const twice = guidsTwice(receiver);
    for (const guid of twice) assert.ok(sent.has(guid) && unrecorded.has(guid), guid);
    assert.equal(new Set(twice).size, twice.length, 'nothing came three times');
    if (ordering !== undefined) assert.deepEqual(outOfOrder(receiver), []);
    // The node has a lease again and continues.
    const more = await publish(one, app, 20, keyOf);
    await untilAll(receiver, more, 20_000);
  });
}

it('after an outage of PostgreSQL all that nodes had claimed came twice', {
  skip,
  timeout: 120_000,
}, async (context) => {
  const { cable, databaseFlag } = await layDatabaseCable(context);
  const receiver = await receive(context);
  const one = await startNode(context, { databaseFlag, speed: SPEED });
  const app = await WebhookApp.register(one, { url: receiver.url, events: ['load'] });
  await startNode(context, { databaseFlag, speed: SPEED });
  const guids = await publish(one, app, 200);
  cable.cut();
  await sleep(12_000 / SPEED);
  await cable.join();
  await untilAll(receiver, guids, 40_000);
  await sleep(8000 / SPEED);
  assert.ok(timesTwice(receiver) <= 2 * AT_ONCE, `${timesTwice(receiver)} came twice`);
});

for (const [what, losingPoint, flags] of [
  ['take an event', 'unheard', []],
  ['claim it', "set state = 'leased'", ['--webhooks-worker=false']],
] as const) {
  it(`an event stayed for ever with a node that had not heard of its own commit to ${what}`, {
    skip,
    timeout: 90_000,
  }, async (context) => {
    const { cable, url, databaseFlag } = await layDatabaseCable(context);
    const receiver = await receive(context);
    const direct = `--server-database-url=${url}`;
    const taker = await startNode(context, { databaseFlag: direct, flags, speed: SPEED });
    const app = await WebhookApp.register(taker, { url: receiver.url, events: ['unheard'] });
    const one = await startNode(context, { databaseFlag, speed: SPEED });
    await sleep(1000); // The node has loaded the app.
    cable.losingPoint = losingPoint;
    const asked = what === 'take an event' ? one : taker;
    const body = JSON.stringify({ event: 'unheard', payload: {}, app_id: app.id });
    const publishOnce = () =>
      asked.http.send('/ops/v1/events', { body, headers: { 'idempotency-key': 'once' } });
    if (asked === one) assert.equal((await publishOnce()).status, 503);
    assert.equal((await publishOnce()).status, 202);
    await receiver.until('unheard', 1);
    assert.equal(cable.losingPoint, undefined);
    await sleep(5000 / SPEED);
    assert.equal(receiver.of('unheard').length, 1);
  });
}

it('an attempt had two records when its node had not heard that the first was stored', {
  skip,
  timeout: 60_000,
}, async (context) => {
  const { cable, databaseFlag } = await layDatabaseCable(context);
  const receiver = await receive(context);
  const one = await startNode(context, { databaseFlag });
  const app = await WebhookApp.register(one, { url: receiver.url, events: ['unheard', 'load'] });
  await app.untilRecorded('?event=ping', 1);
  cable.losingPoint = 'insert into webhooks_deliveries';
  const guid = await app.publish('unheard');
  await receiver.until('unheard', 1);
  const [record] = await app.untilRecorded('?event=unheard', 1);
  assert.deepEqual([record?.guid, cable.losingPoint], [guid, undefined]);
  await sleep(2000); // until the node has retried
  await app.publish('load');
  await app.untilRecorded('?event=load', 1);
  assert.equal((await app.deliveries('?event=unheard')).length, 1);
  assert.equal(receiver.of('unheard').length, 1);
});

it('what a killed node had waited for its lease although its folder had a server again', {
  skip,
  timeout: 60_000,
}, async (context) => {
  await using database = await TestDatabase.create();
  const databaseFlag = `--server-database-url=${database.url}`;
  const receiver = await receive(context);
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
  context.after(() => rm(dataDir, { recursive: true, force: true }));
  const first = await startProcess(context, { databaseFlag, dataDir });
  const app = await WebhookApp.register(first, { url: receiver.url, events: ['load'] });
  const guids = await publish(first, app, 50);
  await first.kill();
  await startNode(context, { databaseFlag, dataDir });
  // 50 take half a second; the lease has 6 s.
  await untilAll(receiver, guids, 4000);
});

it('what a killed node had waited for half a minute where another node runs', {
  skip,
  timeout: 60_000,
}, async (context) => {
  await using database = await TestDatabase.create();
  const databaseFlag = `--server-database-url=${database.url}`;
  const receiver = await receive(context);
  const one = await startProcess(context, { databaseFlag });
  const app = await WebhookApp.register(one, { url: receiver.url, events: ['load'] });
  await startNode(context, { databaseFlag });
  await sleep(7000); // Its lease is old enough to detect the lost leases of others.
  const guids = await publish(one, app, 100);
  await one.kill();
  await untilAll(receiver, guids, 12_000); // 10 s, plus slack for a busy machine
});
