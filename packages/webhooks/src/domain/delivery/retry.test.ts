// Source: webhooks, section 7.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { RetryPolicy } from '../../model/hook.js';
import { keepsDead, parseRetryAfterMs, retryDelayMs } from './retry.js';

const HOUR_SEC = 3600;

function delaysSec(policy: RetryPolicy, chance = 0.5, retryAfterMs?: number): readonly number[] {
  const delays: number[] = [];
  for (let attemptNo = 1; ; attemptNo += 1) {
    const delayMs = retryDelayMs({ policy, attemptNo, retryAfterMs, chance });
    if (delayMs === undefined) return delays;
    delays.push(delayMs / 1000);
  }
}

it('follows the policy of the webhook', () => {
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR_SEC);
  const standard = [5, 300, 1800, ...hours];
  assert.deepEqual(delaysSec({ policy: 'standard' }), standard);
  // 20 % of jitter
  assert.deepEqual(delaysSec({ policy: 'standard' }, 0).slice(0, 2), [4, 240]);
  assert.deepEqual(delaysSec({ policy: 'standard' }, 1).slice(0, 2), [6, 360]);
  assert.deepEqual(delaysSec({ policy: 'schedule', schedule: [0, 0.5, 7] }, 1), [0, 0.5, 7]);
  assert.deepEqual(delaysSec({ policy: 'schedule' }), []);
  assert.deepEqual(delaysSec({ policy: 'none' }), []);
});

it('waits at least as long as the receiver requests, and at most a day', () => {
  const policy = { policy: 'schedule', schedule: [1, 10] } as const;
  assert.deepEqual(delaysSec(policy, 0.5, 5000), [5, 10]);
  assert.deepEqual(delaysSec(policy, 0.5, 1e12), [86_400, 86_400]);
  assert.deepEqual(delaysSec({ policy: 'none' }, 0.5, 5000), []);
});

it('keeps events for the operator only if there were retries', () => {
  assert.deepEqual(
    (['none', 'standard', 'schedule'] as const).map((policy) => keepsDead({ policy })),
    [false, true, true],
  );
});

it('reads `Retry-After` as seconds or a date', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  for (const [value, expected] of [
    [undefined, undefined],
    ['0', 0],
    [' 120 ', 120_000],
    ['999999999', 999_999_999_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-', undefined],
  ] as const) {
    assert.equal(parseRetryAfterMs(value, nowMs), expected, value);
  }
});
