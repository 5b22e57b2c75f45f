// Source: docs/CONSOLE-WEBHOOKS.md, "Change a webhook"; docs/spec/webhooks.md, section 7.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attemptsOf, delaysText, delayText, parseDelays, timeOfAttempt } from './retry-schedule.js';

it('reads the delays that it writes', () => {
  const check = (text: string, delays: readonly number[]): void => {
    assert.deepEqual(parseDelays(text), delays);
    assert.equal(delaysText(delays), text);
  };
  check('5s, 5m, 30m, 2h, 14h, 1d', [5, 300, 1800, 7200, 50_400, 86_400]);
  check('0s, 0.3s, 90s', [0, 0.3, 90]);
  check('7d', [604_800]);
  assert.deepEqual(parseDelays('5, 1h 30m'), [5, 5400]);
});

it('refuses what the server would refuse', () => {
  for (const text of ['', '5,', '5 parsecs', '-1', '8d', Array(21).fill('1s').join(',')])
    assert.equal(parseDelays(text), undefined, text);
  assert.equal(parseDelays(Array(20).fill('1s').join(','))?.length, 20);
});

it('adds the delays up', () => {
  assert.deepEqual(attemptsOf([5, 300]), [
    { name: 'Attempt 1', delaySec: 0, atSec: 0 },
    { name: 'Retry 1', delaySec: 5, atSec: 5 },
    { name: 'Retry 2', delaySec: 300, atSec: 305 },
  ]);
  assert.deepEqual(attemptsOf([]), [{ name: 'Attempt 1', delaySec: 0, atSec: 0 }]);
  assert.deepEqual([0.3, 0, 305].map(delayText), ['300 ms', '0 s', '5 min 5 s']);
  assert.deepEqual([0.5, 5, 305, 9305, 113_705].map(timeOfAttempt), [
    ...['at 500 ms', 'at 5 s', '≈ 5 min', '≈ 3 h', '≈ 1 d 8 h'],
  ]);
});
