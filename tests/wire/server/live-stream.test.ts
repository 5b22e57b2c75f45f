// Source: docs/LIVE-UPDATES.md.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  LiveStream,
  RawConnection,
  ServerInProcess,
  until,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';
import { noPython, PluginServer, rows } from '../tsdb/plugin-server.js';

const LONG = 'x'.repeat(7000);
/** Each request logs a line at this level. */
const TALKING = ['--without-auth', '--services', 'tsdb', '--log-level', 'debug'];

let server: ServerInProcess;
/** For timers of the server. */
let fast: ServerInProcess;
const SPEED = 3;
before(async () => {
  server = await ServerInProcess.start({ flags: TALKING });
  fast = await ServerInProcess.start({ flags: TALKING, speed: SPEED });
});
after(async () => {
  await server.close();
  await fast.close();
});

const say = async (text: string): Promise<void> => {
  await server.http.send(`/ping?said=${text}`);
};
const says = (text: string) => (event: { readonly data: object }) =>
  JSON.stringify(event.data).includes(`said=${text}`);
const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf(':') + 1));

describe('a live stream', { concurrency: true }, () => {
  it('consists of uncached server-sent events with ids', async () => {
    const stream = await LiveStream.open(server.url, 'server-logs');
    assert.equal(stream.status, 200);
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.headers['cache-control'], 'no-store');
    assert.equal(stream.headers['content-encoding'], undefined);
    const start = await stream.until(({ event }) => event === 'start');
    assert.match(start.id, /^server-logs:\d+$/);
    await say('hello');
    const { event, id, data } = await stream.until(says('hello'));
    assert.equal(event, 'log');
    assert.ok(numberOf(id) > numberOf(start.id));
    assert.equal(data['level'], 'debug');
    assert.equal(data['message'], 'request');
    const listed = await server.http.send('/ops/v1/logs?find=said%3Dhello&limit=1');
    assert.deepEqual(JSON.parse(listed.text).lines[0], data);
    stream.close();
  });

  it('continues after the last event that the client received', async () => {
    const first = await LiveStream.open(server.url, 'server-logs');
    await first.until(({ event }) => event === 'start');
    await say('one');
    const { id } = await first.until(says('one'));
    first.close();
    await say('two');
    await say('three');
    const second = await LiveStream.open(server.url, 'server-logs', { 'last-event-id': id });
    await second.until(says('three'));
    assert.ok(second.events.some(says('two')));
    assert.ok(!second.events.some(says('one')));
    assert.ok(second.events.every(({ event }) => event === 'log'));
    const ids = second.events.map((event) => numberOf(event.id));
    assert.deepEqual(
      ids,
      ids.map((_, index) => numberOf(id) + 1 + index),
    );
    second.close();
  });

  it('reports a gap if events are no longer stored or from another server', async () => {
    for (const seq of ['7', '9007199254740991']) {
      const stream = await LiveStream.open(server.url, 'server-logs', {
        'last-event-id': `server-logs:${seq}`,
      });
      await stream.until(({ event }) => event === 'gap');
      assert.equal(
        stream.events.findIndex(({ event }) => event === 'gap'),
        0,
      );
      stream.close();
    }
  });

  it('follows several topics at once, each with its own ids', async () => {
    const stream = await LiveStream.open(server.url, 'health,server-logs,queries,jobs');
    assert.deepEqual((await stream.until(({ event }) => event === 'health')).data, {
      obstacle: null,
    });
    const queries = await stream.until(({ event }) => event === 'queries');
    assert.match(queries.id, /^queries:\d+$/);
    const storage = await stream.until(({ event }) => event === 'storage');
    const { text } = await server.http.send('/ops/v1/tsdb/storage');
    assert.deepEqual(Object.keys(storage.data), Object.keys(JSON.parse(text)));
    await server.http.send('/api/v3/query_sql?db=_internal&q=SELECT+4711');
    await stream.until(
      ({ event, data }) => event === 'queries' && JSON.stringify(data).includes('4711'),
    );
    stream.close();
  });

  it('sends the first 500 characters of a statement, and marks it as truncated', async () => {
    const stream = await LiveStream.open(server.url, 'queries');
    const textOf = (length: number): string => `SELECT ${length} AS x`.padEnd(length, 'x');
    for (const length of [500, 501]) {
      await server.http.send(`/api/v3/query_sql?db=_internal&q=${encodeURI(textOf(length))}`);
    }
    const { data } = await stream.until(
      ({ event, data }) => event === 'queries' && JSON.stringify(data).includes('SELECT 501'),
    );
    const queries = data['queries'] as readonly Readonly<Record<string, unknown>>[];
    for (const length of [500, 501]) {
      const found = queries.find(({ text }) => String(text).startsWith(`SELECT ${length}`));
      assert.equal(found?.['text'], textOf(length).slice(0, 500));
      assert.equal(found?.['is_cut'], length > 500 ? true : undefined);
    }
    stream.close();
  });

  it('sends states once, and the last one to later clients', async () => {
    const first = await LiveStream.open(fast.url, 'health');
    const { id } = await first.until(({ event }) => event === 'health');
    const second = await LiveStream.open(fast.url, 'health');
    assert.equal((await second.until(({ event }) => event === 'health')).id, id);
    const knows = await LiveStream.open(fast.url, 'health', { 'last-event-id': id });
    await sleep(4500 / SPEED);
    assert.equal(first.events.length, 1);
    assert.equal(knows.events.length, 0);
    for (const stream of [first, second, knows]) stream.close();
  });

  it('refuses unknown topics, and a request without a topic', async () => {
    for (const topics of ['nothing', 'health:x', 'trigger-logs:nowhere', 'health,%ff']) {
      const stream = await LiveStream.open(server.url, topics);
      await stream.untilOver();
      assert.equal(stream.status, 404, topics);
      assert.equal(JSON.parse(stream.text).message, `no such topic: ${topics.split(',').at(-1)}`);
    }
    assert.equal((await server.http.send('/ops/v1/stream')).status, 422);
    const many = Array.from({ length: 17 }, (_, index) => `a${index}`).join(',');
    assert.equal((await server.http.send(`/ops/v1/stream?topics=${many}`)).status, 422);
  });

  it('sends a comment every 15 seconds', async () => {
    const stream = await LiveStream.open(fast.url, 'health');
    await until(async () => stream.comments.length >= 3, 'two more comments', 40_000);
    const [, [, second] = ['', 0], [, third] = ['', 0]] = stream.comments;
    const apartMs = (third - second) * SPEED;
    assert.ok(apartMs > 13_000 && apartMs < 40_000, `${apartMs}`);
    stream.close();
  });
});

it('a topic with more than 200 events a second is sampled, and reports the dropped count', async () => {
  const stream = await LiveStream.open(server.url, 'server-logs');
  await stream.until(({ event }) => event === 'start');
  const sent = 700;
  // All are opened at the same time, so that they arrive within two seconds on any machine.
  const connection = await RawConnection.open(server.url);
  connection.send('GET /ping?said=many HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(sent));
  const received = (): number => stream.events.filter(says('many')).length;
  const dropped = (): number =>
    stream.events
      .filter(({ event }) => event === 'sampled')
      .reduce((sum, { data }) => sum + Number(data['dropped']), 0);
  await until(async () => received() + dropped() >= sent, 'the number of dropped events');
  connection.close();
  assert.ok(received() < sent, `${received()}`);
  stream.close();
});

it('the stream of a client that does not read ends with a gap; its connection closes ten seconds later', {
  timeout: 120_000,
}, async () => {
  // A separate server, whose 32 streams are all known.
  await using own = await ServerInProcess.start({ flags: TALKING, speed: SPEED });
  const health = async () => await LiveStream.open(own.url, 'health');
  const others = await Promise.all(Array.from({ length: 30 }, health));
  const slow = await LiveStream.open(own.url, 'server-logs', {}, false);
  const late = await LiveStream.open(own.url, 'server-logs', {}, false);
  assert.deepEqual([slow.status, late.status], [200, 200]);
  // A cut stream no longer counts as one of the 32.
  const areCut = async (): Promise<boolean> => {
    const more = await Promise.all([health(), health()]);
    for (const stream of more) stream.close();
    return more.every(({ status }) => status === 200);
  };
  for (let round = 0; !(await areCut()); round++) {
    assert.ok(round < 30, 'nobody was cut');
    await Promise.all(Array.from({ length: 200 }, () => own.http.send(`/ping?said=${LONG}`)));
    await sleep(900);
  }
  slow.read();
  const cutMs = performance.now();
  await slow.untilOver();
  assert.equal(slow.events.at(-1)?.event, 'gap');
  await sleep(cutMs + 12_000 / SPEED - performance.now());
  late.read();
  await late.untilOver();
  assert.ok(late.events.some(({ event }) => event === 'log'));
  assert.ok(!late.events.some(({ event }) => event === 'gap'));
  for (const stream of others) stream.close();
});

it('a server has at most 32 streams, and accepts another when one has ended', async () => {
  const open = async () => await LiveStream.open(server.url, 'health');
  let streams: LiveStream[] = [];
  // The streams of earlier tests end soon.
  await until(async () => {
    streams = await Promise.all(Array.from({ length: 32 }, open));
    const areOpen = streams.every(({ status }) => status === 200);
    if (!areOpen) for (const stream of streams) stream.close();
    return areOpen;
  }, '32 open streams');
  const refused = await open();
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers['retry-after']) >= 1);
  streams.pop()?.close();
  await until(async () => {
    const again = await open();
    again.close();
    return again.status === 200;
  }, 'room for another stream');
  for (const stream of streams) stream.close();
});

it('a stream requires an admin token, and ends with it', { timeout: 60_000 }, async () => {
  await using guarded = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const made = await guarded.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
  assert.equal((await LiveStream.open(guarded.url, 'health')).status, 401);
  const named = await guarded.http.send('/api/v3/configure/token/named_admin', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"token_name":"short"}',
  });
  const granted = await guarded.http.send('/api/v3/enterprise/configure/token', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({
      token_name: 'reader',
      permissions: [{ resource_type: 'db', resource_identifier: ['*'], actions: ['read'] }],
    }),
  });
  const asReader = { authorization: `Bearer ${JSON.parse(granted.text).token}` };
  // Like other operator routes.
  const logs = await guarded.http.send('/ops/v1/logs', { headers: asReader });
  assert.equal(granted.status, 201, granted.text);
  assert.ok(logs.status === 401 || logs.status === 403, `${logs.status}`);
  assert.equal((await LiveStream.open(guarded.url, 'health', asReader)).status, logs.status);
  const asShort = { authorization: `Bearer ${JSON.parse(named.text).token}` };
  const stream = await LiveStream.open(guarded.url, 'health', asShort);
  assert.equal(stream.status, 200, named.text);
  await guarded.http.send('/api/v3/configure/token?token_name=short', {
    method: 'DELETE',
    headers,
  });
  await stream.untilOver(20_000);
});

it('a shutdown does not wait for streams, and a restart is a gap', {
  timeout: 120_000,
}, async () => {
  const first = await ServerInProcess.start({ flags: TALKING });
  const stream = await LiveStream.open(first.url, 'server-logs');
  const { id } = await stream.until(({ event }) => event === 'start');
  const beganMs = performance.now();
  await first.close();
  assert.ok(performance.now() - beganMs < 60_000);
  await stream.untilOver(1000);
  await using second = await ServerInProcess.start({ flags: TALKING });
  const again = await LiveStream.open(second.url, 'server-logs', { 'last-event-id': id });
  await again.until(({ event }) => event === 'gap');
  again.close();
});

it('trigger-logs streams the log of all triggers of a database, or of one', {
  skip: noPython,
  timeout: 120_000,
}, async () => {
  const plugins = await PluginServer.start();
  const { server: own } = plugins;
  try {
    const source = `
def process_writes(local, batches, args=None):
    local.info("seen", args["who"])
`;
    await plugins.plugin('says.py', source);
    for (const who of ['first', 'second']) {
      await plugins.create({
        ...{ trigger_name: who, plugin_filename: 'says.py', trigger_specification: 'table:m' },
        trigger_arguments: { who },
      });
    }
    const all = await LiveStream.open(own.url, 'trigger-logs:db1');
    const one = await LiveStream.open(own.url, 'trigger-logs:db1:second');
    const other = await LiveStream.open(own.url, 'trigger-logs:db2');
    await own.http.send('/api/v3/write_lp?db=db1', { body: 'm v=1 1' });
    const isOf = (who: string) => (event: { readonly data: Readonly<Record<string, unknown>> }) =>
      event.data['trigger_name'] === who && String(event.data['log_text']).includes('seen');
    await all.until(isOf('first'), 60_000);
    const line = await all.until(isOf('second'), 60_000);
    assert.equal(line.event, 'line');
    const kept = await rows(
      own,
      'db1',
      "SELECT * FROM system.processing_engine_logs WHERE trigger_name = 'second' AND log_text LIKE 'seen%'",
    );
    assert.deepEqual(kept[0], line.data);
    await one.until(isOf('second'));
    assert.ok(!one.events.some(isOf('first')));
    assert.deepEqual(
      other.events.map(({ event }) => event),
      ['start'],
    );
    for (const stream of [all, one, other]) stream.close();
  } finally {
    await plugins.close();
  }
});

it('deliveries and queue of an app are streamed from all nodes', {
  timeout: 60_000,
}, async () => {
  await using own = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services',
      'webhooks',
      '--webhooks-allow-private-targets',
      '127.0.0.0/8',
    ],
  });
  const receiver = await WebhookReceiver.start();
  const app = await WebhookApp.register(own, { url: receiver.url, events: ['*'] });
  const stream = await LiveStream.open(own.url, `deliveries:${app.id},queue:${app.clientId}`);
  assert.equal((await LiveStream.open(own.url, 'queue:999')).status, 404);
  const queue = await stream.until(({ event }) => event === 'queue');
  const asked = await own.http.send(`/ops/v1/apps/${app.id}/queue`);
  assert.deepEqual(Object.keys(queue.data), Object.keys(JSON.parse(asked.text)));
  await own.http.send(`/ops/v1/apps/${app.id}/ping`, { method: 'POST' });
  const { data } = await stream.until(({ event }) => event === 'delivery', 30_000);
  const listed = await own.http.send(`/ops/v1/apps/${app.id}/deliveries`);
  assert.ok(
    JSON.parse(listed.text).some((each: { id: number }) => {
      return each.id === data['id'] && JSON.stringify(each) === JSON.stringify(data);
    }),
  );
  stream.close();
  await receiver.close();
});
