import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { Health } from './health.js';

const lines: string[] = [];
const log = createLogger({
  level: 'warn',
  destination: {
    write(line: string) {
      lines.push(JSON.parse(line).msg);
    },
  },
});

function healthOf(probe: () => Promise<void>): {
  readonly health: Health;
  readonly clock: ManualClock;
  obstacle: string | undefined;
  readonly folder: { isInPlace(): Promise<boolean> };
  readonly stores: { probe(): Promise<void>; local: { obstacle: Error | undefined } };
} {
  const clock = new ManualClock();
  const stores = { probe, local: { obstacle: undefined } };
  const folder = { isInPlace: async () => true };
  const at = { clock, stores, folder, obstacle: undefined as string | undefined };
  const health = new Health({
    ...{ clock, log, folder },
    // Only the members that `Health` uses.
    stores: stores as unknown as ConstructorParameters<typeof Health>[0]['stores'],
    obstacles: () => [undefined, at.obstacle],
  });
  return Object.assign(at, { health });
}

it('reports obstacles of the parts before it checks the stores', async () => {
  const at = healthOf(async () => assert.fail('looked'));
  at.stores.local.obstacle = new Error('the store is broken');
  assert.equal(await at.health.obstacle(), 'the store is broken');
  at.obstacle = 'the log is read-only';
  assert.equal(await at.health.obstacle(), 'the log is read-only');
});

it('checks the stores at most once a second', async () => {
  let count = 0;
  let isAway = true;
  const { health, clock } = healthOf(async () => {
    count += 1;
    if (isAway) throw new Error('away');
  });
  const asked = await Promise.all([health.obstacle(), health.obstacle()]);
  assert.deepEqual(asked, ['storage cannot be reached', 'storage cannot be reached']);
  isAway = false;
  await clock.advanceMs(999);
  assert.equal(await health.obstacle(), 'storage cannot be reached');
  assert.equal(count, 1);
  await clock.advanceMs(1);
  assert.equal(await health.obstacle(), undefined);
  assert.equal(count, 2);
});

it('reports a removed folder even if the stores respond', async () => {
  const { health, folder, clock } = healthOf(async () => {});
  Object.assign(folder, { isInPlace: async () => false });
  assert.match((await health.obstacle()) ?? '', /^the data folder was removed, moved or hidden/);
  Object.assign(folder, { isInPlace: async () => true });
  await clock.advanceMs(1000);
  assert.equal(await health.obstacle(), undefined);
});

it('does not wait for an unresponsive store', async () => {
  const { health, clock } = healthOf(async () => await new Promise<never>(() => {}));
  const asked = health.obstacle();
  await clock.advanceMs(5000);
  assert.equal(await asked, 'storage does not respond');
});

it('reports why a reachable shared database refuses writes', async () => {
  const { health, stores, clock } = healthOf(async () => {});
  Object.assign(stores, { probe: async () => new Error('PostgreSQL takes no writes') });
  assert.equal(await health.obstacle(), 'PostgreSQL takes no writes');
  Object.assign(stores, { probe: async () => undefined });
  await clock.advanceMs(1000);
  assert.equal(await health.obstacle(), undefined);
});

it('checks a hanging store only once', async () => {
  let count = 0;
  let respond = (): void => {};
  const { health, clock } = healthOf(async () => {
    count += 1;
    await new Promise<void>((resolve) => {
      respond = resolve;
    });
  });
  const asked = health.obstacle();
  await clock.advanceMs(5000);
  assert.equal(await asked, 'storage does not respond');
  for (let i = 0; i < 5; i++) {
    await clock.advanceMs(10_000);
    assert.equal(await health.obstacle(), 'storage does not respond');
  }
  assert.equal(count, 1);
  respond();
  await clock.advanceMs(1000);
  const again = health.obstacle();
  respond();
  assert.equal(await again, undefined);
  assert.equal(count, 2);
});

it('logs when storage fails and recovers, not every check', async () => {
  let isAway = true;
  const { health, clock } = healthOf(async () => {
    if (isAway) throw new Error('away');
  });
  lines.length = 0;
  for (let i = 0; i < 6; i++) {
    isAway = i < 3;
    await health.obstacle();
    await clock.advanceMs(1000);
  }
  assert.deepEqual(lines, ['storage cannot be reached', 'storage responds again']);
});
