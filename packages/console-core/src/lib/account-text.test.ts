// Source: the console's specification, "Accounts"; the wire format of Stripe Accounts v2.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Account, DeadlineStatus, Requirement } from './account.js';
import {
  byDeadline,
  capabilitiesOf,
  fieldName,
  reasonText,
  requirementSummary,
} from './account-text.js';

const requirement = (
  description: string,
  status: DeadlineStatus,
  capability: string,
): Requirement => ({
  id: description,
  description,
  awaiting_action_from: 'user',
  errors: [],
  impact: { restricts_capabilities: [{ capability, configuration: 'merchant' }] },
  minimum_deadline: { status },
});

it('lists nested capabilities with the requirements that restrict them', () => {
  const entries = [
    requirement('identity.business_details.registered_name', 'eventually_due', 'card_payments'),
    requirement('defaults.currency', 'past_due', 'balance.payouts'),
  ];
  const account = {
    configuration: {
      customer: null,
      merchant: {
        capabilities: {
          card_payments: { status: 'pending', status_details: [] },
          balance: { payouts: { status: 'restricted' } },
        },
      },
    },
    requirements: { entries, alternatives: [] },
  } as unknown as Account;
  assert.deepEqual(
    capabilitiesOf(account).map(({ capability, status, restrictedBy }) => [
      capability,
      status,
      restrictedBy.map(({ id }) => id),
    ]),
    [
      ['card_payments', 'pending', ['identity.business_details.registered_name']],
      ['balance.payouts', 'restricted', ['defaults.currency']],
    ],
  );
  assert.deepEqual(
    byDeadline(entries).map(({ id }) => id),
    ['defaults.currency', 'identity.business_details.registered_name'],
  );
  assert.equal(requirementSummary(entries), '1 past due · 1 later');
  assert.equal(requirementSummary([]), 'Nothing due');
});

it('names a field by its path', () => {
  assert.equal(fieldName('identity.business_details.registered_name'), 'Registered name');
  assert.equal(fieldName('identity.business_details.address.line1'), 'Address: line 1');
  assert.equal(fieldName('defaults.currency'), 'Currency');
  assert.equal(fieldName('contact_email'), 'Contact email');
});

it('names each field that blocks a capability once, and at most eight', () => {
  const reason = (...paths: readonly string[]) =>
    reasonText({
      ...{ configuration: 'merchant', capability: 'card_payments', status: 'restricted' },
      details: [{ code: 'requirements_past_due', resolution: 'provide_info' }],
      restrictedBy: paths.map((path) => requirement(path, 'past_due', 'card_payments')),
    });
  assert.equal(
    reason('given_name', 'given_name', 'surname'),
    'requirements past due (provide info), Given name, Surname',
  );
  const many = reason(...'abcdefghij');
  assert.equal(many, 'requirements past due (provide info), A, B, C, D, E, F, G, H, 2 more');
});
