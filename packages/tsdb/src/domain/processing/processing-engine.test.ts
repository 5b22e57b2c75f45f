import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { ProcessingEngine, type ProcessingNeeds } from './processing-engine.js';
import { recordOf } from './triggers/trigger-record.js';

it('tries again to remove the records of a deleted database when the store fails', async () => {
  const clock = new ManualClock(0);
  const messages: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => void messages.push(JSON.parse(line).msg) },
  });
  const wanted = {
    database: 'd',
    name: 't',
    pluginFilename: 'p.py',
    specification: 'all_tables',
    runAsync: false,
    errorBehavior: 'log',
    arguments: undefined,
    isDisabled: true,
  } as const;
  let askedCount = 0;
  const needs = {
    settings: {},
    catalog: { databaseById: () => undefined, deleted: { databaseById: () => undefined } },
    store: {
      load: async () => [{ id: 1, ...recordOf(wanted, 7) }],
      async delete() {
        askedCount += 1;
        if (askedCount === 1) throw new Error('the disk is full');
      },
    },
    folder: { obstacle: async () => undefined },
    clock,
    log,
  };
  const engine = new ProcessingEngine(needs as unknown as ProcessingNeeds);
  await engine.open();
  for (let turn = 0; turn < 4; turn++) await clock.advanceMs(1000);
  assert.equal(askedCount, 2);
  assert.deepEqual(messages, ['background job failed', 'background job works again']);
  assert.deepEqual(engine.triggers(7), []);
  await engine.close();
});
