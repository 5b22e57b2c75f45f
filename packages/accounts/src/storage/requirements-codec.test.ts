import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Requirements } from '../model/account/requirements.js';
import { packRequirements, unpackRequirements } from './requirements-codec.js';

const entry = (id: string, more: object, ...capabilities: readonly string[]) => ({
  id,
  awaiting_action_from: 'user' as const,
  description: `field.${id}`,
  errors: [],
  impact: {
    restricts_capabilities: capabilities.map((capability) => ({
      capability,
      configuration: 'merchant' as const,
      deadline: { status: 'past_due' as const },
    })),
  },
  minimum_deadline: { status: 'past_due' as const },
  requested_reasons: [{ code: 'routine_onboarding' as const }],
  ...more,
});

const REQUIREMENTS: Requirements = {
  collector: 'vendor',
  entries: [
    entry('a', {}, 'card_payments', 'vendor_balance.payouts'),
    entry('b', {}, 'vendor_balance.payouts'),
    entry(
      'c',
      { errors: [{ code: 'x', description: 'y' }] },
      'card_payments',
      'vendor_balance.payouts',
    ),
    entry('d', { reference: { type: 'person', resource: 'person_1' } }),
  ],
  alternatives: [],
};

describe('stored requirements', () => {
  it('are unchanged after encoding and decoding', () => {
    const stored = JSON.parse(JSON.stringify(packRequirements(REQUIREMENTS)));
    assert.deepEqual(unpackRequirements(stored), REQUIREMENTS);
    assert.equal(stored.restrictions.length, 3);
    const none: Requirements = { collector: 'application', entries: [], alternatives: [] };
    assert.deepEqual(unpackRequirements(packRequirements(none)), none);
  });

  it('are read in layout 2, where each entry contains its restrictions', () => {
    const second = [
      'a',
      'user',
      'field.a',
      'past_due',
      ['routine_onboarding'],
      [
        ['merchant', 'card_payments', 'past_due'],
        ['merchant', 'vendor_balance.payouts', 'past_due'],
      ],
    ];
    const stored = { collector: 'vendor', entries: [second], alternatives: [] };
    const [first] = REQUIREMENTS.entries;
    const read = unpackRequirements<Requirements>(stored as never);
    assert.deepEqual(read, { ...REQUIREMENTS, entries: [first] });
  });
});
