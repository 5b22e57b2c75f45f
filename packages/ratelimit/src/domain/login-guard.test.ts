// Source: rate-limits, section 3.1.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock, SeededRandom } from '@plinth/kernel/testing';
import { LoginGuard } from './login-guard.js';

const ADDRESS = 'ip:192.0.2.1';

function guardAt(clock: ManualClock): LoginGuard {
  return new LoginGuard({ clock, random: new SeededRandom(1) });
}

function fail(guard: LoginGuard, count: number): void {
  for (let index = 0; index < count; index += 1) guard.noteFailure(ADDRESS);
}

it('what was accepted before the first wrong credential came stays welcome for 30 s', async () => {
  const clock = new ManualClock(0);
  const guard = guardAt(clock);
  guard.noteSuccess('Bearer known');
  await clock.advanceMs(10_000);
  fail(guard, 51);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer known'), false);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer knowm'), true);
  assert.equal(guard.isLocked('ip:192.0.2.2', 'Bearer knowm'), false);
  await clock.advanceMs(20_001);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer known'), true);
});

it('more than 50 wrong credentials close the door for ten minutes', async () => {
  const clock = new ManualClock(0);
  const guard = guardAt(clock);
  fail(guard, 50);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer any'), false);
  fail(guard, 1);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer any'), true);
  await clock.advanceMs(600_000);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer any'), false);
});

it('each use of an accepted credential prolongs its time', async () => {
  const clock = new ManualClock(0);
  const guard = guardAt(clock);
  for (let second = 0; second < 60; second += 5) {
    guard.noteSuccess('Bearer known');
    await clock.advanceMs(5000);
  }
  fail(guard, 51);
  await clock.advanceMs(24_000);
  assert.equal(guard.isLocked(ADDRESS, 'Bearer known'), false);
});
