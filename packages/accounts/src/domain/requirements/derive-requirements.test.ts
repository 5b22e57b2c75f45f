import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccountFields, StoredAccount } from '../../model/account/account.js';
import type { EngineInput, EngineResult } from '../../model/account/derive-requirements.js';
import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../model/platform/platform-settings.js';
import {
  testAccount as account,
  testPerson as person,
  START_MS,
} from '../../testing/test-account.js';
import { deriveRequirements } from './index.js';

// Expected values: accounts, section 16.

const DAY_MS = 86_400_000;
const GRACE_MS = 7 * DAY_MS;
interface Given {
  readonly persons?: readonly StoredPerson[];
  readonly settings?: Partial<PlatformSettings>;
  readonly nowMs?: number;
  readonly outcomes?: EngineInput['outcomes'];
  readonly completesPendingChecks?: boolean;
}

function derive(context: StoredAccount, given: Given = {}): EngineResult {
  let entryCount = 0;
  return deriveRequirements({
    account: context,
    persons: given.persons ?? [],
    platform: { ...DEFAULT_PLATFORM_SETTINGS, ...given.settings },
    nowMs: given.nowMs ?? START_MS,
    newEntryId: () => `reqent_${++entryCount}`,
    digest: (text) => text,
    ...(given.outcomes && { outcomes: given.outcomes }),
    ...(given.completesPendingChecks !== undefined && {
      completesPendingChecks: given.completesPendingChecks,
    }),
  });
}

/** Returns the account as stored after `result`. */
function after(context: StoredAccount, { reject, ...result }: EngineResult): StoredAccount {
  return { ...context, ...result, overrides: { ...context.overrides, reject } };
}

const CARDS = { capabilities: { card_payments: { requested: true } } };
const IMMEDIATE = { requirements_enforcement: { test: 'immediate', live: 'immediate' } } as const;

const company = (country: string, more: AccountFields = {}): AccountFields => ({
  contact_email: 'a@example.com',
  identity: { country, entity_type: 'company', ...more.identity },
  configuration: { merchant: CARDS },
  ...more,
});

const descriptions = (result: EngineResult): string[] =>
  result.requirements.entries.map(({ description }) => description);

const entryOf = (result: EngineResult, description: string) => {
  const entry = result.requirements.entries.find((one) => one.description === description);
  assert.ok(entry, `${description} is not among ${descriptions(result).join(', ')}`);
  return entry;
};

const statusOf = (result: EngineResult, name: string): string | undefined =>
  result.capabilities[name]?.status;

const verified = ({ verifications: { business } }: EngineResult): string | undefined =>
  business?.status;

const FULL_BUSINESS: AccountFields = {
  contact_email: 'a@example.com',
  identity: {
    country: 'US',
    entity_type: 'company',
    business_details: {
      registered_name: 'Furever',
      address: {
        country: 'US',
        line1: '1 Main St',
        city: 'Boston',
        postal_code: '02108',
        state: 'MA',
      },
      id_numbers: [{ type: 'us_ein', value: '123456789' }],
      phone: '+16175551234',
      structure: 'private_corporation',
    },
    attestations: { persons_provided: { owners: true } },
  },
  configuration: {
    merchant: { ...CARDS, mcc: '5734', statement_descriptor: { descriptor: 'FUREVER' } },
  },
  defaults: { profile: { business_url: 'https://furever.example.com' } },
};

const withNumber = (value: string): AccountFields => ({
  ...FULL_BUSINESS,
  identity: {
    ...FULL_BUSINESS.identity,
    business_details: {
      ...FULL_BUSINESS.identity?.business_details,
      id_numbers: [{ type: 'us_ein', value }],
    },
  },
});

const REPRESENTATIVE = person('person_1', {
  given_name: 'Jenny',
  surname: 'Rosen',
  date_of_birth: { day: 1, month: 2, year: 1980 },
  email: 'jenny@example.com',
  phone: '+16175551234',
  address: { country: 'US', line1: '1 Main St', city: 'Boston', postal_code: '02108', state: 'MA' },
  relationship: { representative: true, title: 'CEO' },
  id_numbers: [{ type: 'us_ssn_last_4', value: '0000' }],
});

describe('requirements of an account', () => {
  it('request rows 2 to 21 in order from a company with card payments', () => {
    const result = derive(account({ ...company('US'), dashboard: 'none' }));
    assert.deepEqual(descriptions(result), [
      'identity.business_details.registered_name',
      'identity.business_details.address.line1',
      'identity.business_details.address.city',
      'identity.business_details.address.postal_code',
      'identity.business_details.address.state',
      'identity.business_details.phone',
      'identity.business_details.id_numbers.us_ein',
      'identity.business_details.structure',
      'configuration.merchant.mcc',
      'defaults.profile.business_url',
      'configuration.merchant.statement_descriptor.descriptor',
      'configuration.merchant.support.phone',
      'relationship.representative',
      'relationship.owner',
    ]);
    assert.deepEqual(result.requirements.alternatives[0], {
      options: [
        {
          entries: [
            {
              awaiting_action_from: 'user',
              description: 'defaults.profile.product_description',
              errors: [],
            },
          ],
        },
      ],
      original_entries: [{ description: 'defaults.profile.business_url' }],
    });
  });

  it('restrict the capabilities that a row names', () => {
    const entry = entryOf(
      derive(account(company('US'))),
      'identity.business_details.id_numbers.us_ein',
    );
    assert.deepEqual(entry.impact.restricts_capabilities, [
      {
        capability: 'vendor_balance.payouts',
        configuration: 'merchant',
        deadline: { status: 'eventually_due' },
      },
    ]);
    assert.deepEqual(entry.requested_reasons, [{ code: 'routine_onboarding' }]);
    assert.deepEqual(entry.errors, []);
  });

  it('depend on the country: no postal code in Hong Kong, and both scripts instead of a descriptor in Japan', () => {
    const hongKong = descriptions(derive(account(company('HK'))));
    assert.ok(!hongKong.includes('identity.business_details.address.postal_code'));
    assert.ok(hongKong.includes('identity.business_details.id_numbers.hk_br'));
    assert.ok(hongKong.includes('identity.attestations.persons_provided.directors'));
    const japan = descriptions(derive(account(company('JP'))));
    assert.ok(!japan.includes('configuration.merchant.statement_descriptor.descriptor'));
    assert.ok(japan.includes('identity.business_details.script_names.kana'));
    assert.ok(japan.includes('identity.business_details.script_addresses.kanji'));
    const germany = descriptions(derive(account(company('DE'))));
    assert.ok(germany.includes('identity.attestations.persons_provided.executives'));
    assert.ok(!germany.includes('identity.business_details.address.state'));
  });

  it('omit rows 4 to 23 before a capability is requested', () => {
    const fields = company('US', { configuration: { merchant: {} } });
    assert.deepEqual(descriptions(derive(account(fields))), [
      'identity.business_details.registered_name',
    ]);
  });

  it('include the person of an individual, and contact details for a merchant', () => {
    const identity = { country: 'US', entity_type: 'individual' } as const;
    const fields = { contact_email: 'a@example.com', identity };
    const requestUrl = descriptions(
      derive(account({ ...fields, configuration: { merchant: CARDS } })),
    );
    assert.ok(requestUrl.includes('identity.individual.email'));
    assert.ok(requestUrl.includes('identity.individual.id_numbers.us_ssn_last_4'));
    const transfers = { vendor_balance: { vendor_transfers: { requested: true } } };
    const recipient = { capabilities: transfers };
    assert.deepEqual(descriptions(derive(account({ ...fields, configuration: { recipient } }))), [
      'identity.individual.given_name',
      'identity.individual.surname',
      'identity.individual.date_of_birth',
      'identity.individual.address.line1',
      'identity.individual.address.city',
      'identity.individual.address.postal_code',
      'identity.individual.address.state',
      'identity.individual.id_numbers.us_ssn_last_4',
    ]);
  });

  it('name a representative by path and reference, and each field once', () => {
    const persons = [
      person('person_1', {
        relationship: { representative: true, owner: true, percent_ownership: '30' },
      }),
    ];
    const result = derive(account(company('US')), { persons });
    assert.ok(!descriptions(result).includes('relationship.owner'));
    const names = result.requirements.entries.filter(
      ({ description }) => description === 'given_name',
    );
    assert.equal(names.length, 1);
    assert.deepEqual(names[0]?.reference, { type: 'person', resource: 'person_1' });
    assert.ok(descriptions(result).includes('id_numbers.us_ssn_last_4'));
  });

  it('are empty for a complete account', () => {
    const result = derive(account(FULL_BUSINESS), { persons: [REPRESENTATIVE] });
    assert.deepEqual(descriptions(result), []);
    assert.equal(result.requirements.summary, undefined);
    assert.equal(result.nextEvaluationMs, undefined);
  });

  it('include payout methods only in live mode', () => {
    const live = derive(account(FULL_BUSINESS, { livemode: true }), { persons: [REPRESENTATIVE] });
    assert.deepEqual(descriptions(live), ['defaults.payout_methods.usd']);
  });

  it('include the terms if the platform collects requirements', () => {
    const fields: AccountFields = {
      ...FULL_BUSINESS,
      dashboard: 'none',
      defaults: {
        responsibilities: { fees_collector: 'application', losses_collector: 'application' },
      },
    };
    const result = derive(account(fields), { persons: [REPRESENTATIVE] });
    assert.equal(result.requirements.collector, 'application');
    assert.ok(descriptions(result).includes('identity.attestations.terms_of_service.account'));
  });

  it('keep the ids of remaining entries', () => {
    const context = account(company('US'));
    const first = derive(context);
    const phone = { contact_phone: '+16175551234' };
    const second = derive(after({ ...context, fields: { ...context.fields, ...phone } }, first));
    assert.deepEqual(
      second.requirements.entries.map(({ id }) => id),
      first.requirements.entries.map(({ id }) => id),
    );
  });
});

describe('deadlines', () => {
  const context = account(company('US'));
  const status = (nowMs: number) =>
    derive(context, { nowMs }).requirements.summary?.minimum_deadline;
  const due = new Date(START_MS + GRACE_MS).toISOString();

  it('allow one grace period if enforcement is deferred', () => {
    assert.deepEqual(status(START_MS), { status: 'eventually_due', time: due });
    assert.deepEqual(status(START_MS + GRACE_MS - DAY_MS), { status: 'currently_due', time: due });
    assert.deepEqual(status(START_MS + GRACE_MS), { status: 'past_due' });
  });

  it('report the next change by the passage of time', () => {
    assert.equal(derive(context).nextEvaluationMs, START_MS + GRACE_MS - DAY_MS);
    const lastDay = derive(context, { nowMs: START_MS + GRACE_MS - DAY_MS });
    assert.equal(lastDay.nextEvaluationMs, START_MS + GRACE_MS);
    assert.equal(derive(context, { nowMs: START_MS + GRACE_MS }).nextEvaluationMs, undefined);
  });

  it('are past due from the start if enforcement is immediate', () => {
    const result = derive(context, { settings: IMMEDIATE });
    assert.deepEqual(result.requirements.summary, { minimum_deadline: { status: 'past_due' } });
    assert.deepEqual(result.capabilities['merchant.card_payments'], {
      status: 'restricted',
      status_details: [{ code: 'requirements_past_due', resolution: 'provide_info' }],
    });
  });

  it('allow a second grace period for the declaration of owners', () => {
    const identity = {
      country: 'DE',
      entity_type: 'company',
      attestations: { persons_provided: { owners: true } },
    } as const;
    const fields = company('DE', { identity });
    const result = derive(account(fields), { nowMs: START_MS + GRACE_MS });
    const entry = entryOf(result, 'identity.attestations.ownership_declaration');
    assert.equal(entry.minimum_deadline.status, 'eventually_due');
  });
});

describe('capability statuses', () => {
  it('are active in a new test account and remembered', () => {
    const result = derive(account(company('US')));
    const active = { status: 'active', status_details: [] };
    assert.deepEqual(result.capabilities, {
      'merchant.card_payments': active,
      'merchant.vendor_balance.payouts': active,
    });
    assert.deepEqual(result.everActive, [
      'merchant.card_payments',
      'merchant.vendor_balance.payouts',
    ]);
  });

  it('follow a rejection before anything else', () => {
    const context = account(company('US'));
    const state = { ...context.overrides, reject: { reason: 'fraud' } };
    assert.deepEqual(
      derive({ ...context, overrides: state }).capabilities['merchant.card_payments'],
      {
        status: 'rejected',
        status_details: [{ code: 'rejected_fraud', resolution: 'contact_vendor' }],
      },
    );
  });

  it('report an unsupported country or entity type', () => {
    const affirm = { merchant: { capabilities: { affirm_payments: { requested: true } } } };
    const abroad = derive(account(company('DE', { configuration: affirm })));
    assert.deepEqual(abroad.capabilities['merchant.affirm_payments']?.status_details, [
      { code: 'unsupported_country', resolution: 'no_resolution' },
    ]);
    const identity = { country: 'US', entity_type: 'non_profit' } as const;
    const club = derive(account({ identity, configuration: affirm }));
    assert.deepEqual(club.capabilities['merchant.affirm_payments']?.status_details, [
      { code: 'unsupported_entity_type', resolution: 'no_resolution' },
    ]);
  });

  it('are restricted until a country is known for tax calculation', () => {
    const tax = { capabilities: { automatic_indirect_tax: { requested: true } } };
    const nowhere = derive(account({ configuration: { customer: tax } }));
    assert.deepEqual(nowhere.capabilities['customer.automatic_indirect_tax'], {
      status: 'pending',
      status_details: [{ code: 'determining_status', resolution: 'provide_info' }],
    });
    assert.deepEqual(descriptions(nowhere), ['identity.country']);
    const identity = { country: 'DE' };
    const known = derive(account({ identity, configuration: { customer: tax } }));
    assert.equal(statusOf(known, 'customer.automatic_indirect_tax'), 'active');
    assert.deepEqual(descriptions(known), []);
    const inUs = derive(account({ identity: { country: 'US' }, configuration: { customer: tax } }));
    assert.deepEqual(descriptions(inUs), ['identity.business_details.address.state']);
  });

  it('include payouts of recipients once transfers are requested', () => {
    const identity = { country: 'AR', entity_type: 'company' } as const;
    const local = { bank_accounts: { local: { requested: true } } };
    const without = derive(
      account({ identity, configuration: { recipient: { capabilities: local } } }),
    );
    assert.deepEqual(Object.keys(without.capabilities), ['recipient.bank_accounts.local']);
    const transfers = { vendor_balance: { vendor_transfers: { requested: true } } };
    const having = derive(
      account({ identity, configuration: { recipient: { capabilities: transfers } } }),
    );
    assert.deepEqual(Object.keys(having.capabilities), [
      'recipient.vendor_balance.vendor_transfers',
      'recipient.vendor_balance.payouts',
    ]);
    assert.equal(statusOf(having, 'recipient.vendor_balance.payouts'), 'active');
  });

  it('are absent while a configuration is deactivated', () => {
    const context = account(company('US'));
    const at = { firstMs: START_MS, sinceMs: START_MS, isActive: false };
    assert.deepEqual(derive({ ...context, applied: { merchant: at } }).capabilities, {});
  });
});

describe('verification', () => {
  const check = (value: string, code: string | undefined): void => {
    const result = derive(account(withNumber(value)), { persons: [REPRESENTATIVE] });
    const entries = result.requirements.entries;
    assert.deepEqual(
      entries.flatMap(({ errors }) => errors.map((error) => error.code)),
      code ? [code] : [],
    );
    assert.equal(
      statusOf(result, 'merchant.vendor_balance.payouts'),
      code ? 'restricted' : 'active',
      value,
    );
  };

  it('applies the outcome of magic business numbers', () => {
    check('000000000', undefined);
    check('222222222', undefined);
    check('12-3456789', undefined);
    check('111111111', 'verification_failed_tax_id_match');
    check('111111112', 'verification_failed_keyed_identity');
  });

  it('ignores magic values in live mode', () => {
    const live = account(withNumber('111111111'), { livemode: true });
    const result = derive(live, { persons: [REPRESENTATIVE] });
    assert.equal(verified(result), 'success');
  });

  it('fails one magic number before other data is complete', () => {
    const identity = {
      country: 'US',
      entity_type: 'company',
      business_details: { id_numbers: [{ type: 'us_ein', value: '111111112' }] },
    } as const;
    const result = derive(account(company('US', { identity })));
    const entry = entryOf(result, 'identity.business_details.id_numbers.us_ein');
    assert.equal(entry.errors[0]?.code, 'verification_failed_keyed_identity');
    assert.equal(entry.minimum_deadline.status, 'past_due');
    assert.deepEqual(entry.requested_reasons, [{ code: 'routine_verification' }]);
  });

  it('stays pending until a tick for a magic number, then succeeds', () => {
    const context = account(withNumber('333333333'));
    const persons = [REPRESENTATIVE];
    const first = derive(context, { persons });
    const entry = entryOf(first, 'identity.business_details.id_numbers.us_ein');
    assert.equal(entry.awaiting_action_from, 'vendor');
    assert.equal(entry.minimum_deadline.status, 'currently_due');
    assert.deepEqual(first.capabilities['merchant.vendor_balance.payouts'], {
      status: 'pending',
      status_details: [{ code: 'requirements_pending_verification', resolution: 'no_resolution' }],
    });
    const stored = after(context, first);
    assert.equal(
      statusOf(derive(stored, { persons }), 'merchant.vendor_balance.payouts'),
      'pending',
    );
    const ticked = derive(stored, { persons, completesPendingChecks: true });
    assert.equal(statusOf(ticked, 'merchant.vendor_balance.payouts'), 'active');
  });

  it('stays pending until the operator decides in manual mode, regardless of time', () => {
    const settings = { verification_mode: 'manual' } as const;
    const persons = [REPRESENTATIVE];
    const context = account(FULL_BUSINESS);
    const first = derive(context, { persons, settings });
    assert.deepEqual(Object.keys(first.verifications), ['business', 'person:person_1']);
    const stored = after(context, first);
    assert.equal(
      verified(derive(stored, { persons, settings, completesPendingChecks: true })),
      'pending',
    );
    const refused = derive(stored, {
      persons,
      settings,
      outcomes: { business: 'verification_failed_other', 'person:person_1': 'success' },
    });
    const entry = entryOf(refused, 'identity.business_details.registered_name');
    assert.equal(entry.errors[0]?.code, 'verification_failed_other');
    assert.equal(refused.requirements.entries.length, 1);
  });

  it('verifies changed data again, but not the same data', () => {
    const failed = account(withNumber('111111111'));
    const first = derive(failed, { persons: [REPRESENTATIVE] });
    const same = derive(after(failed, first), { persons: [REPRESENTATIVE] });
    assert.equal(verified(same), 'failed');
    const corrected = { ...after(failed, first), fields: FULL_BUSINESS };
    const second = derive(corrected, { persons: [REPRESENTATIVE] });
    assert.equal(verified(second), 'success');
    assert.deepEqual(descriptions(second), []);
  });

  it('fails wrong addresses and numbers of persons, and accepts a valid document for both', () => {
    const { fields } = REPRESENTATIVE;
    const wrong = person('person_1', {
      ...fields,
      address: { ...fields.address, line1: 'address_no_match' },
    });
    const result = derive(account(FULL_BUSINESS), { persons: [wrong] });
    const entry = entryOf(result, 'address.line1');
    assert.equal(entry.errors[0]?.code, 'verification_failed_address_match');
    assert.deepEqual(entry.reference, { type: 'person', resource: 'person_1' });
    const document = (file: string): PersonFields => ({
      ...wrong.fields,
      documents: { primary_verification: { type: 'front_back', front_back: { front: file } } },
    });
    const good = person('person_1', document('file_identity_document_success'));
    assert.deepEqual(descriptions(derive(account(FULL_BUSINESS), { persons: [good] })), []);
    const bad = person('person_1', document('file_identity_document_fail'));
    const failed = derive(account(FULL_BUSINESS), { persons: [bad] });
    const entries = failed.requirements.entries;
    assert.deepEqual(
      entries.map(({ description }) => description),
      ['address.line1', 'documents.primary_verification'],
    );
    assert.equal(entries[1]?.errors[0]?.code, 'verification_document_failed_test_mode');
  });

  it('raises one alert for a person on a sanctions list', () => {
    const birth = { day: 1, month: 1, year: 1900 };
    const listed = person('person_1', { ...REPRESENTATIVE.fields, date_of_birth: birth });
    const context = account(FULL_BUSINESS);
    const first = derive(context, { persons: [listed] });
    assert.deepEqual(first.reject, { reason: 'listed' });
    assert.equal(statusOf(first, 'merchant.card_payments'), 'rejected');
    const pardoned = after(context, { ...first, reject: null });
    assert.equal(derive(pardoned, { persons: [listed] }).reject, null);
  });
});

describe('entries added by the operator', () => {
  const requirement = {
    id: 'reqent_9',
    description: 'inquiry',
    awaiting_action_from: 'user',
    restricts: [{ configuration: 'merchant', capability: 'card_payments', status: 'past_due' }],
  } as const;

  it('restrict the given capabilities with the given status', () => {
    const result = derive(account(FULL_BUSINESS, { operatorRequirements: [requirement] }), {
      persons: [REPRESENTATIVE],
    });
    assert.deepEqual(descriptions(result), ['inquiry']);
    assert.equal(statusOf(result, 'merchant.card_payments'), 'restricted');
    assert.equal(statusOf(result, 'merchant.vendor_balance.payouts'), 'active');
  });

  it('stay in the future until their transition', () => {
    const transition = new Date(START_MS + DAY_MS).toISOString();
    const future = { ...requirement, future: true, transition };
    const context = account(FULL_BUSINESS, { operatorRequirements: [future] });
    const before = derive(context, { persons: [REPRESENTATIVE] });
    assert.deepEqual(descriptions(before), []);
    assert.equal(before.futureRequirements.entries[0]?.id, 'reqent_9');
    assert.equal(before.futureRequirements.minimum_transition_date, transition);
    assert.equal(before.nextEvaluationMs, START_MS + DAY_MS);
    assert.equal(statusOf(before, 'merchant.card_payments'), 'active');
    const then = derive(context, { persons: [REPRESENTATIVE], nowMs: START_MS + DAY_MS });
    assert.deepEqual(descriptions(then), ['inquiry']);
    assert.deepEqual(then.futureRequirements.entries, []);
    assert.deepEqual(then.operatorRequirements, [requirement]);
  });
});
