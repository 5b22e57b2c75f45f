// Source: accounts, section 4.1; decision 0174.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AccountFields, StoredAccount } from '../../model/account/account.js';
import type { PersonFields } from '../../model/account/person.js';
import { Encryptor } from '../../storage/encryptor.js';
import { testAccount, testPerson } from '../../testing/test-account.js';
import { accountTag } from './entity-tags.js';

const encryptorWith = (byte: number) =>
  new Encryptor({ current: 'k1', keys: new Map(), digestKey: Buffer.alloc(32, byte) });
const ENCRYPTOR = encryptorWith(1);

const company = (value: string): AccountFields => ({
  display_name: 'Furever',
  identity: {
    entity_type: 'company',
    business_details: { id_numbers: [{ type: 'us_ein', value }] },
  },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
});
const FIELDS = company('123456789');

function tagOf(
  fields: AccountFields,
  more: Partial<StoredAccount> = {},
  person: PersonFields = {},
  encryptor = ENCRYPTOR,
): string {
  const account = testAccount(fields, { individualId: 'person_1', ...more });
  return accountTag({ account, persons: [testPerson('person_1', person)] }, encryptor);
}

it('changes with the data that operators edit, including write-only values', () => {
  const individual: AccountFields = { ...FIELDS, identity: { entity_type: 'individual' } };
  const requested = { card_payments: { requested: true }, affirm_payments: { requested: true } };
  const tags = [
    tagOf(FIELDS),
    tagOf(company('987654321')),
    tagOf({ ...FIELDS, metadata: { a: 'b' } }),
    tagOf({ ...FIELDS, configuration: { merchant: { capabilities: requested } } }),
    tagOf(FIELDS, { applied: {} }),
    tagOf(FIELDS, { isClosed: true }),
    tagOf(individual),
    tagOf(individual, {}, { given_name: 'Ann' }),
    tagOf(individual, {}, { id_numbers: [{ type: 'us_ssn', value: '111111111' }] }),
    tagOf(individual, {}, { id_numbers: [{ type: 'us_ssn', value: '222222222' }] }),
  ];
  assert.equal(new Set(tags).size, tags.length);
  for (const tag of tags) assert.match(tag, /^"[0-9a-f]{32}"$/);
});

it('does not change with statuses, verifications, time or persons of a company', () => {
  const capabilities: StoredAccount['capabilities'] = {
    'merchant.card_payments': {
      status: 'restricted',
      status_details: [{ code: 'requirements_past_due', resolution: 'provide_info' }],
    },
  };
  const verifications = { business: { status: 'success', checked: '' } } as const;
  const changed = { capabilities, verifications, everActive: ['a'], nextEvaluationMs: 1 };
  assert.equal(tagOf(FIELDS, changed), tagOf(FIELDS));
  assert.equal(tagOf(FIELDS, {}, { given_name: 'Ann' }), tagOf(FIELDS));
});

it('cannot be computed without the key of the server', () => {
  assert.notEqual(tagOf(FIELDS, {}, {}, encryptorWith(2)), tagOf(FIELDS));
});
