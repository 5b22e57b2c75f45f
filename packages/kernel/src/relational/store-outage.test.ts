import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DiskFull } from '../fs/disk-full.js';
import { CredentialUncheckable } from '../http/credential-uncheckable.js';
import { StatementFailed, StoreAway, storeError } from './relational-errors.js';
import { asOutage, StoreOutage } from './store-outage.js';

it('recognizes an unavailable store, even when the error is wrapped', () => {
  for (const error of [
    new StoreAway('ECONNREFUSED', 'connection refused'),
    storeError('store_overloaded', 1),
    storeError('store_unusable', 'it is closed'),
    storeError('transaction_timed_out', 1),
  ]) {
    const outage = asOutage(error);
    assert.ok(outage instanceof StoreOutage, error.name);
    assert.equal(outage.cause, error);
    assert.ok(
      asOutage(storeError('transaction_aborted', undefined, error)) instanceof StoreOutage,
      error.name,
    );
    assert.ok(!outage.message.includes(error.message), 'internal details are not sent to clients');
  }
});

it('returns a full disk and an unverifiable credential unchanged', () => {
  const full = new DiskFull(undefined);
  assert.equal(asOutage(storeError('transaction_aborted', undefined, full)), full);
  assert.ok(asOutage(new StatementFailed('53100', 'no room')) instanceof DiskFull);
  const uncheckable = new CredentialUncheckable(storeError('store_overloaded', 1));
  assert.equal(asOutage(uncheckable), uncheckable);
});

it('ignores errors of statements', () => {
  const failed = new StatementFailed('42P01', 'no such table');
  const value = storeError('value_refused', 'U+0000');
  const refused = storeError('constraint_violated', { constraint: 'unique', message: 'twice' });
  for (const error of [
    failed,
    storeError('transaction_aborted', undefined, failed),
    refused,
    value,
    new Error('a bug'),
    'text',
  ])
    assert.equal(asOutage(error), undefined);
  const circle = new Error('round');
  circle.cause = circle;
  assert.equal(asOutage(circle), undefined);
});
