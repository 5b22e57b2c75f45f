// Runs in a separate process, because it defines browser globals and mocks timers. Source:
// docs/LIVE-UPDATES.md.
import assert from 'node:assert/strict';
import { beforeEach, it, mock } from 'node:test';

/** The browser globals that Node does not have. */
const tab = Object.assign(new EventTarget(), { visibilityState: 'visible' });
class Channel extends EventTarget {
  postMessage(): void {}
}
Object.assign(globalThis, {
  document: tab,
  sessionStorage: { getItem: () => null, setItem: () => undefined, removeItem: () => undefined },
  BroadcastChannel: Channel,
});
mock.timers.enable({ apis: ['setTimeout', 'Date'] });
mock.method(performance, 'now', () => Date.now());

const { Live } = await import('./live.js');
const { connection } = await import('./connection.js');

interface Asked {
  readonly topics: string | null;
  readonly positions: string | null;
  readonly signal: AbortSignal;
  send(text: string): void;
  end(): void;
}
let asked: Asked[] = [];
/** Topics that the server reports as unknown. */
let unknown = new Set<string>();

mock.method(globalThis, 'fetch', async (url: string, init: RequestInit): Promise<Response> => {
  const topics = new URL(url, 'http://here').searchParams.get('topics');
  let sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      sink = controller;
    },
  });
  asked.push({
    topics,
    positions: new Headers(init.headers).get('last-event-id'),
    signal: init.signal as AbortSignal,
    send: (text) => sink?.enqueue(new TextEncoder().encode(text)),
    end: () => sink?.close(),
  });
  const missing = topics?.split(',').find((topic) => unknown.has(topic));
  if (missing === undefined) return new Response(body);
  return Response.json({ message: `no such topic: ${missing}` }, { status: 404 });
});

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};
const pass = async (ms: number): Promise<void> => {
  await settle();
  mock.timers.tick(ms);
  await settle();
};
const last = (): Asked => asked.at(-1) ?? assert.fail('nothing was asked');

/** Creates a follower that records its events and resets. */
function followerOf() {
  const received: unknown[] = [];
  const follower = {
    onEvent: ({ data }: { readonly data: unknown }) => void received.push(data),
    onReset: () => void received.push('reset'),
  };
  return { received, follower };
}

beforeEach(() => {
  asked = [];
  unknown = new Set();
  tab.visibilityState = 'visible';
});

it('doubles the delay before reopening a stream that ends early', async () => {
  const live = new Live();
  const end = live.follow('a', followerOf().follower);
  await pass(0);
  for (const delayMs of [1000, 2000, 4000]) {
    const count = asked.length;
    last().send(': heartbeat\n\n');
    await settle();
    last().end();
    await pass(delayMs - 1);
    assert.equal(asked.length, count, `${delayMs}`);
    await pass(1);
    assert.equal(asked.length, count + 1, `${delayMs}`);
  }
  last().send(': heartbeat\n\n');
  await pass(10_000);
  last().send(': heartbeat\n\n');
  await settle();
  last().end();
  const count = asked.length;
  await pass(1000);
  assert.equal(asked.length, count + 1);
  end();
  await pass(0);
});

it('closes the stream of a background tab after one minute', async () => {
  tab.visibilityState = 'hidden';
  const live = new Live();
  const end = live.follow('a', followerOf().follower);
  await pass(0);
  assert.equal(asked.length, 1);
  for (let second = 0; second < 59; second += 1) {
    if (second % 15 === 0) last().send(': heartbeat\n\n');
    await pass(1000);
  }
  assert.equal(last().signal.aborted, false);
  await pass(1000);
  assert.equal(last().signal.aborted, true);
  await pass(60_000);
  assert.equal(asked.length, 1);
  tab.visibilityState = 'visible';
  tab.dispatchEvent(new Event('visibilitychange'));
  await settle();
  assert.equal(asked.length, 2);
  end();
  await pass(0);
});

it('treats an unreadable event as missed, not as a lost connection', async () => {
  const live = new Live();
  const { received, follower } = followerOf();
  const end = live.follow('a', follower);
  await pass(0);
  last().send('event: x\nid: a:1\ndata: {"a\n\nevent: x\nid: a:2\ndata: 2\n\n');
  await settle();
  assert.deepEqual(received, ['reset', 2]);
  assert.equal(connection.lostSince(), undefined);
  assert.equal(asked.length, 1);
  // More text than the parser accepts without the end of a message.
  last().send('x'.repeat(5_000_000));
  await settle();
  assert.equal(connection.lostSince(), undefined);
  await pass(1000);
  assert.equal(asked.length, 2);
  assert.equal(last().positions, 'a:2');
  end();
  await pass(0);
});

it('polls an unknown topic and follows the others', async () => {
  unknown = new Set(['b', 'c']);
  const live = new Live();
  const ends = ['a', 'b', 'c'].map((topic) => live.follow(topic, followerOf().follower));
  let changeCount = 0;
  live.subscribe(() => void changeCount++);
  for (let turn = 0; turn < 4; turn++) await pass(0);
  assert.deepEqual(
    asked.map(({ topics }) => topics),
    ['a,b,c', 'a,c', 'a'],
  );
  assert.deepEqual(
    ['a', 'b', 'c'].map((topic) => live.status(topic)),
    ['live', 'polling', 'polling'],
  );
  assert.equal(changeCount, 2);
  for (const end of ends) end();
  unknown = new Set();
  const end = live.follow('b', followerOf().follower);
  await pass(0);
  assert.equal(live.status('b'), 'live');
  assert.equal(last().topics, 'b');
  end();
  await pass(0);
});
