// Source: docs/spec/webhooks.md, section 7.3.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigInvalid, loadSettings, TargetGuard, ValidationFailed } from '@plinth/kernel';
import { WEBHOOKS_SETTINGS } from '../config.js';
import { HookRules } from './hook-rules.js';

it('accepts the same retry delays in settings and from operators', () => {
  const rules = new HookRules(new TargetGuard({ allowed: [] }), {
    httpsOnly: false,
    acceptMaskAsSecret: false,
  });
  const isTaken = (take: () => unknown, refusal: new (...args: never[]) => Error): boolean => {
    try {
      take();
      return true;
    } catch (error) {
      assert.ok(error instanceof refusal);
      return false;
    }
  };
  const check = (delaySec: number, expected: boolean): void => {
    const flags = new Map([['webhooks-retry-schedule', `1,${delaySec}`]]);
    const retry = { policy: 'schedule', schedule: [1, delaySec] };
    const set = () => loadSettings({ webhooks: WEBHOOKS_SETTINGS }, { env: {}, flags });
    assert.equal(isTaken(set, ConfigInvalid), expected, `setting ${delaySec}`);
    const ask = () => rules.checkWhole({ retry });
    assert.equal(isTaken(ask, ValidationFailed), expected, `request ${delaySec}`);
  };
  for (const delaySec of [0, 0.5, 604_800]) check(delaySec, true);
  for (const delaySec of [-1, 604_801, 999_999]) check(delaySec, false);
});
