// Source: docs/LIVE-UPDATES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type LiveSource,
  LiveStream,
  MAX_WAITING_BYTES,
  type NotifyLive,
  ServerBusy,
} from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { LiveHub, MAX_STREAM_COUNT } from './live-hub.js';

const NOBODY = new AbortController().signal;

/** A hub with the sources `state`, `lines` and `slow`; the last never responds. */
function hubOf() {
  const clock = new ManualClock();
  const hub = new LiveHub(clock);
  const tells = new Map<string, NotifyLive>();
  let openCount = 0;
  const source = (name: string, isState: boolean): LiveSource => ({
    ...{ name, isState },
    open(parts, notify) {
      openCount++;
      tells.set([name, ...parts].join(':'), notify);
      return { [Symbol.dispose]: () => undefined };
    },
  });
  hub.add(source('state', true));
  hub.add(source('lines', false));
  hub.add({ name: 'slow', isState: true, open: () => new Promise(() => undefined) });
  let dropCount = 0;
  const ask = (topics: string, positions: object = {}, leaving: AbortSignal = NOBODY) =>
    hub.open({
      ...{
        topics: topics.split(','),
        positions: new Map(Object.entries(positions)),
        disconnectSignal: leaving,
      },
      isLetIn: () => true,
      drop: () => void dropCount++,
    });
  return {
    ...{ clock, hub, ask },
    async open(topics: string, positions: object = {}) {
      const stream = await ask(topics, positions);
      assert.ok(stream instanceof LiveStream);
      return stream;
    },
    notify: (topic: string, event: string, data: unknown) => tells.get(topic)?.(event, data),
    openCount: () => openCount,
    dropCount: () => dropCount,
  };
}

/** Buffered events for a client, without heartbeats. */
async function textOf(stream: LiveStream): Promise<string> {
  const pieces = stream.pieces();
  const { value } = await pieces.next();
  await pieces.return();
  return String(value).replaceAll(': heartbeat\n\n', '');
}
/** Everything that a client receives until the stream ends. */
async function wholeOf(stream: LiveStream): Promise<string> {
  let text = '';
  for await (const piece of stream.pieces()) text += piece.toString();
  return text;
}
const eventsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^event: (.*)$/gm)].map(([, event = '']) => event);
const idsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id);

it('a state above the buffer limit does not disconnect a reading client', async () => {
  const { open, notify, hub } = hubOf();
  const stream = await open('state');
  let text = '';
  const reading = (async () => {
    for await (const piece of stream.pieces()) text += piece.toString();
  })();
  await new Promise(setImmediate);
  notify('state', 'state', 'x'.repeat(MAX_WAITING_BYTES));
  await new Promise(setImmediate);
  notify('state', 'state', 'small');
  await new Promise(setImmediate);
  hub.close();
  await reading;
  assert.deepEqual(eventsOf(text), ['state', 'state']);
});

it('reports a gap for a state if the position is not of this topic', async () => {
  const { open, notify } = hubOf();
  await open('state'); // States are dropped with their last follower.
  const first = await open('state');
  notify('state', 'state', 1);
  const [id = ''] = idsOf(await textOf(first));
  const seq = Number(id.slice('state:'.length));
  assert.ok(seq > 0);
  const later = await open('state,lines', { state: seq + 1 });
  const text = await textOf(later);
  assert.deepEqual(eventsOf(text), ['gap', 'start']);
  // The id at which the stream continues.
  assert.equal(idsOf(text)[0], id);
  const before = await open('state,lines', { state: seq - 1 });
  assert.deepEqual(eventsOf(await textOf(before)), ['state', 'start']);
  const same = await open('state,lines', { state: seq });
  assert.deepEqual(eventsOf(await textOf(same)), ['start']);
});

it('a replay that does not fit into the buffer becomes a gap', async () => {
  const { open, notify } = hubOf();
  const first = await open('lines:a,lines:b');
  const positions = Object.fromEntries(
    idsOf(await textOf(first)).map((id) => [
      id.slice(0, id.lastIndexOf(':')),
      Number(id.slice(id.lastIndexOf(':') + 1)),
    ]),
  );
  for (const topic of ['lines:a', 'lines:b']) {
    for (let count = 0; count < 6; count++) notify(topic, 'line', 'x'.repeat(100_000));
  }
  const text = await textOf(await open('lines:a,lines:b', positions));
  assert.deepEqual(eventsOf(text), [...Array.from({ length: 6 }, () => 'line'), 'gap']);
  assert.ok(idsOf(text).at(-1)?.startsWith('lines:b:'));
});

it('a client that disconnects while topics open releases its slot at once', async () => {
  const { ask, open } = hubOf();
  const leaving = new AbortController();
  const asked = Array.from({ length: MAX_STREAM_COUNT }, () => ask('slow', {}, leaving.signal));
  const refused = Promise.all(
    asked.map((each) => assert.rejects(each, (error) => error instanceof ServerBusy)),
  );
  await assert.rejects(ask('state'), /32 live streams/);
  leaving.abort();
  await refused;
  await open('state');
});

it('an unresponsive topic times out', async () => {
  const { ask, clock } = hubOf();
  const refusals: unknown[] = [];
  ask('slow').catch((error: unknown) => refusals.push(error));
  await clock.advanceMs(9999);
  assert.equal(refusals.length, 0);
  await clock.advanceMs(1);
  assert.ok(refusals[0] instanceof ServerBusy);
});

it('the connection of a client that reads nothing is dropped some seconds after the end', async () => {
  const { open, hub, clock, dropCount } = hubOf();
  const stuck = await open('state');
  await stuck.pieces().next();
  const taken = await open('state');
  const reading = wholeOf(taken);
  stuck.end();
  taken.end();
  await reading;
  await clock.advanceMs(9999);
  assert.equal(dropCount(), 0);
  await clock.advanceMs(1);
  assert.equal(dropCount(), 1);
  await clock.advanceMs(60_000);
  assert.equal(dropCount(), 1);
  hub.close();
});

it('differently encoded names are one topic, with one form in event ids', async () => {
  const { open, ask, notify, openCount } = hubOf();
  const stream = await open('lines:my%3aapp!,%6cines:my%3Aapp%21');
  assert.equal(openCount(), 1);
  notify('lines:my:app!', 'line', 1);
  const text = await textOf(stream);
  assert.deepEqual(eventsOf(text), ['start', 'line']);
  const [start = ''] = idsOf(text);
  assert.match(start, /^lines:my%3Aapp!:\d+$/);
  const seq = Number(start.slice(start.lastIndexOf(':') + 1));
  const again = await open('lines:my%3aapp%21', { 'lines:my%3aapp%21': seq });
  assert.deepEqual(eventsOf(await textOf(again)), ['line']);
  assert.equal(openCount(), 1);
  assert.equal(await ask('state,%ff'), '%ff');
  assert.equal(await ask('state,%6eothing'), '%6eothing');
});
