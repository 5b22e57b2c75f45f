// Source: rate-limits, section 3.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { LoginGuard } from './login-guard.js';

const ADDRESS = 'ip:192.0.2.1';

function fail(guard: LoginGuard, count: number): void {
  for (let index = 0; index < count; index += 1) guard.noteFailure(ADDRESS);
}

it('locks an address for ten minutes after more than 50 wrong credentials', async () => {
  const clock = new ManualClock(0);
  const guard = new LoginGuard({ clock });
  fail(guard, 50);
  assert.equal(guard.isLocked(ADDRESS), false);
  fail(guard, 1);
  assert.equal(guard.isLocked(ADDRESS), true);
  assert.equal(guard.isLocked('ip:192.0.2.2'), false);
  await clock.advanceMs(599_999);
  assert.equal(guard.isLocked(ADDRESS), true);
  await clock.advanceMs(1);
  assert.equal(guard.isLocked(ADDRESS), false);
});

it('counts wrong credentials within ten minutes', async () => {
  const clock = new ManualClock(0);
  const guard = new LoginGuard({ clock });
  fail(guard, 50);
  await clock.advanceMs(600_000);
  fail(guard, 1);
  assert.equal(guard.isLocked(ADDRESS), false);
});

it('keeps 100,000 addresses, and evicts the oldest beyond that', () => {
  const guard = new LoginGuard({ clock: new ManualClock(0) });
  fail(guard, 51);
  for (let index = 1; index < 100_000; index += 1) guard.noteFailure(`ip:${index}`);
  assert.equal(guard.isLocked(ADDRESS), true);
  guard.noteFailure('ip:100000');
  assert.equal(guard.isLocked(ADDRESS), false);
});

it('evicts an address last after it starts a new window', async () => {
  const clock = new ManualClock(0);
  const guard = new LoginGuard({ clock });
  fail(guard, 1);
  for (let index = 1; index < 100_000; index += 1) guard.noteFailure(`ip:${index}`);
  await clock.advanceMs(600_000);
  fail(guard, 51);
  guard.noteFailure('ip:100000');
  assert.equal(guard.isLocked(ADDRESS), true);
});
