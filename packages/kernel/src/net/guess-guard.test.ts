import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '../testing/manual-clock.js';
import { GuessGuard } from './guess-guard.js';
import { addressKey } from './networks.js';

it('locks an address until the end of its window by default', async () => {
  const clock = new ManualClock(0);
  const guard = new GuessGuard(clock, { lockingCount: 2, windowMs: 60_000 });
  guard.noteFailure('192.0.2.1');
  assert.equal(guard.lockedForMs('192.0.2.1'), 0);
  await clock.advanceMs(10_000);
  guard.noteFailure('192.0.2.1');
  assert.equal(guard.lockedForMs('192.0.2.1'), 50_000);
  assert.equal(guard.lockedForMs('192.0.2.2'), 0);
  await clock.advanceMs(50_000);
  assert.equal(guard.lockedForMs('192.0.2.1'), 0);
  guard.noteFailure('192.0.2.1');
  assert.equal(guard.lockedForMs('192.0.2.1'), 0, 'a new window has no failures');
});

it('locks for a configured time from the last failure', async () => {
  const clock = new ManualClock(0);
  const limits = { lockingCount: 2, windowMs: 60_000, lockMs: 60_000 };
  const guard = new GuessGuard(clock, limits);
  guard.noteFailure('192.0.2.1');
  await clock.advanceMs(50_000);
  guard.noteFailure('192.0.2.1');
  assert.equal(guard.lockedForMs('192.0.2.1'), 60_000);
});

it('forgets the address with the oldest window', async () => {
  const clock = new ManualClock(0);
  const guard = new GuessGuard(clock, { lockingCount: 1, windowMs: 60_000 });
  guard.noteFailure('first');
  await clock.advanceMs(60_000);
  guard.noteFailure('second');
  guard.noteFailure('first');
  for (let index = 0; index < 99_999; index += 1) guard.noteFailure(`ip:${index}`);
  assert.equal(guard.lockedForMs('first'), 60_000);
  assert.equal(guard.lockedForMs('second'), 0);
});

it('keeps the locks of all other addresses beyond 100,000', () => {
  const guard = new GuessGuard(new ManualClock(0), { lockingCount: 1, windowMs: 60_000 });
  for (let index = 0; index <= 100_000; index += 1) guard.noteFailure(`ip:${index}`);
  assert.equal(guard.lockedForMs('ip:0'), 0);
  for (let index = 1; index <= 100_000; index += 1) {
    assert.equal(guard.lockedForMs(`ip:${index}`), 60_000);
  }
});

it('includes failures counted by other nodes', async () => {
  const clock = new ManualClock(0);
  const limits = { lockingCount: 3, windowMs: 60_000, lockMs: 10_000 };
  let elsewhere = 0;
  let here = 0;
  const guard = new GuessGuard(clock, limits, async () => elsewhere + ++here);
  const fail = async (): Promise<void> => {
    guard.noteFailure('a');
    await clock.advanceMs(0);
  };
  assert.equal(guard.lockedForMs('a'), 0);
  await fail();
  assert.equal(guard.lockedForMs('a'), 0);
  elsewhere = 1;
  await fail();
  assert.equal(guard.lockedForMs('a'), 10_000, 'the third failure, one of them on another node');
  await clock.advanceMs(1000);
  assert.equal(guard.lockedForMs('a'), 9000);
  await fail();
  assert.equal(guard.lockedForMs('a'), 10_000);
});

it('counts an IPv6 network as one address', () => {
  assert.equal(addressKey('192.0.2.1'), '192.0.2.1');
  assert.equal(addressKey('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(addressKey('2001:db8:1:2::7'), '2001:db8:1:2::/64');
  assert.equal(addressKey('2001:db8:1:2:ffff::1'), addressKey('2001:db8:1:2::7'));
  assert.notEqual(addressKey('2001:db8:1:3::7'), addressKey('2001:db8:1:2::7'));
  assert.equal(addressKey('nobody'), 'nobody');
});
