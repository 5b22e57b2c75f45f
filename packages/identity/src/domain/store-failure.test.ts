import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CredentialUncheckable, createLogger, requestError, storeError } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { StoreFailure } from './store-failure.js';

it('reports a failed look-up as uncheckable and limits its log lines', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const clock = new ManualClock(0);
  const storeFailure = new StoreFailure({ clock, log });
  const look = (error: Error) => storeFailure.notice(Promise.reject(error));
  assert.equal(await storeFailure.notice(Promise.resolve(1)), 1);
  for (let index = 0; index < 5; index += 1) {
    await assert.rejects(look(storeError('store_overloaded', 1)), CredentialUncheckable);
  }
  assert.equal(lines.length, 1);
  await clock.advanceMs(10_000);
  await assert.rejects(look(storeError('store_overloaded', 1)), CredentialUncheckable);
  assert.equal(lines.length, 2);
  await assert.rejects(look(requestError('not_authenticated')), { kind: 'not_authenticated' });
  // A bug is not reported as a store failure.
  await assert.rejects(look(new TypeError('bug')), TypeError);
});
