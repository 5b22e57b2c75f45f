// Runs in a separate process, because it defines browser globals and mocks timers. Source: docs/LIVE-QUERIES.md.
import assert from 'node:assert/strict';
import { beforeEach, it, mock } from 'node:test';

class Channel extends EventTarget {
  postMessage(): void {}
}
Object.assign(globalThis, {
  sessionStorage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
  BroadcastChannel: Channel,
});
mock.timers.enable({ apis: ['setTimeout', 'Date'] });
mock.method(performance, 'now', () => Date.now());

const { followTable } = await import('./live-query.js');
const { session } = await import('./session.js');

let responses: (() => Response)[] = [];
let requestCount = 0;
mock.method(globalThis, 'fetch', async (): Promise<Response> => {
  requestCount++;
  return (responses.shift() ?? assert.fail('an unexpected request'))();
});

const pass = async (ms: number): Promise<void> => {
  for (let tick = 0; tick < 10; tick++) await new Promise(setImmediate);
  mock.timers.tick(ms);
  for (let tick = 0; tick < 10; tick++) await new Promise(setImmediate);
};

function follow() {
  const seen: string[] = [];
  const stop = followTable({
    ...{ db: 'home', table: 'cpu' },
    onChange: () => seen.push('change'),
    onLive: (isLive) => seen.push(isLive ? 'live' : 'lost'),
    onRefused: (message) => seen.push(message),
  });
  return { seen, stop };
}

const refuse = (status: number) => () => Response.json({ error: 'no', data: {} }, { status });
const stream = (text: string) => () => new Response(text);

beforeEach(() => {
  responses = [];
  requestCount = 0;
});

it('reports a rejected query once and does not repeat it', async () => {
  for (const status of [400, 403, 404]) {
    responses = [refuse(status)];
    const { seen } = follow();
    await pass(60_000);
    assert.deepEqual(seen, ['lost', 'no'], `${status}`);
  }
});

it('requires a sign-in when the token is rejected', async () => {
  responses = [refuse(401)];
  const { seen } = follow();
  await pass(60_000);
  assert.deepEqual(seen, ['lost', 'no']);
  assert.ok(session.isRefused);
});

it('reopens a lost stream after 1, 2, 4, 8 and then 15 seconds', async () => {
  responses = [refuse(503), refuse(429), refuse(408), stream(''), ...Array(9).fill(refuse(500))];
  const { stop } = follow();
  await pass(0);
  let count = 1;
  for (const delayMs of [1000, 2000, 4000, 8000, 15_000, 15_000]) {
    await pass(delayMs - 1);
    assert.equal(requestCount, count, `before ${delayMs} ms`);
    await pass(1);
    count++;
    assert.equal(requestCount, count, `after ${delayMs} ms`);
  }
  stop();
  await pass(60_000);
  assert.equal(requestCount, count);
});

it('reports the start of the stream and changed buckets', async () => {
  responses = [
    stream('event: start\nid: 1\ndata: []\n\n: heartbeat\nid: 2\n\nevent: bucket\ndata: []\n\n'),
  ];
  const { seen, stop } = follow();
  await pass(0);
  stop();
  assert.deepEqual(seen, ['live', 'change', 'change', 'lost']);
});
