import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { type ProcessingDeps, ProcessingEngine } from './processing-engine.js';
import { recordOf } from './triggers/trigger-record.js';

const WANTED = {
  database: 'd',
  name: 't',
  pluginFilename: 'p.py',
  runAsync: false,
  errorBehavior: 'log',
  arguments: undefined,
} as const;

it('fires no schedule of a deleted database until it is restored', async () => {
  const clock = new ManualClock(0);
  let isThere = true;
  const deps = {
    settings: {},
    catalog: {
      databaseById: (id: number) => (isThere ? { id, name: 'd' } : undefined),
      deleted: { databaseById: () => ({}) },
    },
    store: {
      load: async () => {
        const wanted = { ...WANTED, specification: 'every:1m', isDisabled: false };
        return [{ id: 1, ...recordOf(wanted, 7) }];
      },
      recordFailure: async () => undefined,
    },
    folder: { obstacle: async () => undefined, find: async () => ({}) },
    // The run fails, but its start is logged.
    openHost: async () => ({ kind: 'unavailable', why: 'no Python' }),
    clock,
    log: createLogger({ level: 'info', destination: { write: () => undefined } }),
  };
  const engine = new ProcessingEngine(deps as unknown as ProcessingDeps);
  await engine.open();
  const startsOfMinutes = async (count: number): Promise<number> => {
    const starts = () =>
      engine.runLog.entries(7).filter(({ text }) => text.startsWith('starting')).length;
    const before = starts();
    for (let minute = 0; minute < count; minute++) await clock.advanceMs(60_000);
    return starts() - before;
  };
  assert.equal(await startsOfMinutes(2), 2);
  isThere = false;
  engine.databasesChanged();
  assert.equal(await startsOfMinutes(5), 0);
  isThere = true;
  engine.databasesChanged();
  assert.equal(await startsOfMinutes(2), 2);
  await engine.close();
});

it('tries again to remove the records of a deleted database when the store fails', async () => {
  const clock = new ManualClock(0);
  const messages: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void messages.push(JSON.parse(line).msg) },
  });
  let askedCount = 0;
  const deps = {
    settings: {},
    catalog: { databaseById: () => undefined, deleted: { databaseById: () => undefined } },
    store: {
      load: async () => [
        { id: 1, ...recordOf({ ...WANTED, specification: 'all_tables', isDisabled: true }, 7) },
      ],
      async delete() {
        askedCount += 1;
        if (askedCount === 1) throw new Error('the disk is full');
      },
    },
    folder: { obstacle: async () => undefined },
    clock,
    log,
  };
  const engine = new ProcessingEngine(deps as unknown as ProcessingDeps);
  await engine.open();
  for (let turn = 0; turn < 4; turn++) await clock.advanceMs(1000);
  assert.equal(askedCount, 2);
  assert.deepEqual(messages, ['background job failed', 'background job recovered']);
  assert.deepEqual(engine.triggers.of(7), []);
  await engine.close();
});
