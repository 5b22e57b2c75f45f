import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, type NotifyLive } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { liveSources } from './live-sources.js';

type Needs = Parameters<typeof liveSources>[0];

/** Creates an app with a changeable webhook, and counts the store queries. */
function appOf() {
  const clock = new ManualClock();
  const hooks = new Map([[7, { appId: 7, url: 'http://old.example/' }]]);
  const items: { readonly id: number }[] = [];
  const lines: string[] = [];
  let lookCount = 0;
  let isAway = false;
  const deps = {
    clock,
    log: createLogger({ level: 'trace', destination: { write: (line) => lines.push(line) } }),
    findAppId: async () => (hooks.has(7) ? 7 : undefined),
    hooks: { get: (appId: number) => hooks.get(appId) },
    engine: { describeHost: ({ url }: { readonly url: string }) => ({ name: new URL(url).host }) },
    queue: {
      async describe() {
        lookCount++;
        return { counts: { pending: 0 } };
      },
    },
    deliveries: {
      async list() {
        lookCount++;
        if (isAway) throw new Error('away');
        return { items: [...items] };
      },
    },
  } as unknown as Needs;
  const told: unknown[] = [];
  const tell: NotifyLive = (_event, data) => told.push(data);
  return {
    ...{ clock, hooks, items, lines, told },
    lookCount: () => lookCount,
    setAway: (value: boolean) => {
      isAway = value;
    },
    open: async (name: string) =>
      await liveSources(deps)
        .find((source) => source.name === name)
        ?.open(['7'], tell),
  };
}

it('uses the current webhook for the queue state', async () => {
  const { clock, hooks, told, open } = appOf();
  await open('queue');
  await clock.advanceMs(1000);
  hooks.set(7, { appId: 7, url: 'http://new.example/' });
  await clock.advanceMs(1000);
  assert.deepEqual(
    told.map((each) => (each as { host: { name: string } }).host.name),
    ['old.example', 'new.example'],
  );
});

it('queries nothing for a deleted webhook', async () => {
  for (const name of ['queue', 'deliveries']) {
    const { clock, hooks, lookCount, open } = appOf();
    await open(name);
    await clock.advanceMs(1000);
    hooks.delete(7);
    await clock.advanceMs(1000);
    const count = lookCount();
    await clock.advanceMs(10_000);
    assert.equal(lookCount(), count, name);
  }
});

it('logs an unavailable store once, and resumes deliveries afterwards', async () => {
  const { clock, lines, setAway, open } = appOf();
  const feed = await open('deliveries');
  setAway(true);
  await clock.advanceMs(5000);
  assert.equal(lines.length, 1);
  setAway(false);
  await clock.advanceMs(1000);
  assert.equal(lines.length, 2); // The recovery is also logged.
  feed?.[Symbol.dispose]();
});
