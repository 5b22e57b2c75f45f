// Source: accounts, sections 9, 13 and 14. Covers every row marked P.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  at,
  customer,
  merchant,
  recipient,
  SELF_COLLECTED,
} from '../../../testing/account-bodies.js';
import { assertRefused, type Refusal } from '../../../testing/refusal.js';
import { START_MS } from '../../../testing/test-account.js';
import type { Json } from '../../../testing/test-platform.js';
import { testServer } from '../../../testing/test-server.js';

const server = testServer();

interface Case extends Refusal {
  readonly name: string;
  readonly settings?: Json;
  readonly account?: Json;
  /** Facts that the operator sets for the account. */
  readonly state?: Json;
  /** Platform settings after the account and its persons were created. */
  readonly later?: Json;
  /** Persons that exist before the request. */
  readonly others?: readonly Json[];
  /** Person to update; without it, one is created. */
  readonly before?: Json;
  readonly body: Json;
}

const rule = (name: string, code: string, ex: Refusal['ex'] = '', param?: string) => ({
  ...{ name, code, ex },
  ...(param !== undefined && { param }),
});

const JENNY = {
  given_name: 'Jenny',
  surname: 'Rosen',
  date_of_birth: { day: 1, month: 2, year: 1980 },
};
const role = (...names: readonly string[]): Json => ({
  relationship: Object.fromEntries(names.map((name) => [name, true])),
});
const owner = (percent: string): Json => ({
  relationship: { owner: true, percent_ownership: percent },
});
const YEAR = new Date(START_MS).getUTCFullYear();

const FIELD_CASES: readonly Case[] = [
  { name: 'row 50', code: 'email_invalid', ex: 'U', param: 'email', body: { email: 'jenny@' } },
  {
    ...rule('row 49', 'email_domain_invalid_for_recipient', 'U', 'email'),
    account: recipient(),
    body: { email: 'jenny@yopmail.com' },
  },
  { name: 'row 71', code: 'phone_invalid', ex: 'U', param: 'phone', body: { phone: 'call me' } },
  {
    ...rule('row 64', 'ip_address_invalid', '', 'additional_terms_of_service.account.ip'),
    body: {
      additional_terms_of_service: {
        account: { date: '2026-11-01T00:00:00.000Z', ip: 'fe80::1%eth0' },
      },
    },
  },
  {
    ...rule('row 42', 'date_of_birth_invalid', 'U', 'date_of_birth'),
    body: { date_of_birth: { day: 1, month: 1, year: YEAR + 1 } },
  },
  {
    ...rule('row 41', 'date_of_birth_age_restriction', 'U', 'date_of_birth'),
    extra: { age_limit: '18' },
    settings: { age_limit: 18 },
    body: { ...role('representative'), date_of_birth: { day: 1, month: 1, year: YEAR - 17 } },
  },
  {
    ...rule('row 18', 'address_characters_invalid', 'U', 'address.city'),
    body: { address: { country: 'us', city: 'Bos{ton}' } },
  },
  {
    ...rule('row 20', 'address_postal_code_invalid', 'U', 'address.postal_code'),
    body: { address: { country: 'us', postal_code: '123' } },
  },
  {
    ...rule('row 21', 'address_state_invalid', 'U', 'address.state'),
    body: { address: { country: 'us', state: 'ZZ' } },
  },
  {
    ...rule('row 22', 'unsupported_state', 'U', 'address.state'),
    body: { address: { country: 'ua', state: 'UA-43' } },
  },
  {
    ...rule('row 23', 'address_town_invalid', 'U', 'address.town'),
    body: { address: { country: 'us', town: '  ' } },
  },
  {
    ...rule('row 92', 'unsupported_postal_code', 'U', 'address.postal_code'),
    body: { address: { country: 'ua', postal_code: '95001' } },
  },
  {
    ...rule('row 67', 'non_jp_kana_kanji_address', 'U', 'script_addresses.kanji.country'),
    body: { script_addresses: { kanji: { country: 'us' } } },
  },
  {
    ...rule('row 73', 'postal_code_required_for_jp_address', 'U', 'address.postal_code'),
    body: { address: { country: 'jp', line1: '1-1' } },
  },
  {
    ...rule('row 76', 'script_characters_invalid', 'U', 'script_names.kana.given_name'),
    body: { script_names: { kana: { given_name: 'ひらがな' } } },
  },
  {
    ...rule('row 53', 'id_number_invalid', 'U', 'id_numbers.0.value'),
    body: { id_numbers: [{ type: 'us_ssn', value: '12345' }] },
  },
  {
    ...rule('row 55', 'incorrect_id_number_for_country', 'U', 'id_numbers.0.type'),
    body: { id_numbers: [{ type: 'br_cpf', value: '12345678909' }] },
  },
  {
    ...rule(
      'row 55, of a number that has no form either',
      'incorrect_id_number_for_country',
      'U',
      'id_numbers.0.type',
    ),
    body: { id_numbers: [{ type: 'br_cpf', value: '1' }] },
  },
  {
    ...rule(
      'row 54, a number of an account without a country',
      'identity_country_required',
      '',
      'id_numbers',
    ),
    account: customer(),
    body: { id_numbers: [{ type: 'us_ssn', value: '123456789' }] },
  },
  {
    ...rule(
      'row 54, an address of an account without a country',
      'identity_country_required',
      '',
      'address.country',
    ),
    account: customer(),
    body: { address: { city: 'Boston' } },
  },
  {
    ...rule('row 47', 'document_invalid', '', 'documents.passport.files.0'),
    body: { documents: { passport: { type: 'files', files: ['file_nowhere'] } } },
  },
  {
    ...rule('row 70', 'person_percent_ownership_invalid', 'U', 'relationship.percent_ownership'),
    body: owner('0'),
  },
  {
    ...rule('section 14', 'address_country_required', '', 'address.country'),
    body: { address: { city: 'Boston' } },
  },
  {
    ...rule('section 14', 'address_country_mismatch', 'U', 'additional_addresses.0.country'),
    body: {
      address: { country: 'us' },
      additional_addresses: [{ purpose: 'registered', country: 'ca' }],
    },
  },
];

const ROLE_CASES: readonly Case[] = [
  {
    ...rule(
      'section 14',
      'additional_representative_not_allowed',
      '',
      'relationship.representative',
    ),
    others: [role('representative')],
    body: role('representative'),
  },
  {
    ...rule(
      'section 14',
      'additional_legal_guardian_not_allowed',
      '',
      'relationship.legal_guardian',
    ),
    others: [role('representative'), role('legal_guardian')],
    body: role('legal_guardian'),
  },
  {
    ...rule(
      'section 14',
      'additional_tos_only_allowed_for_legal_guardian',
      '',
      'additional_terms_of_service',
    ),
    body: {
      additional_terms_of_service: {
        account: { date: '2026-11-01T00:00:00.000Z', ip: '127.0.0.1' },
      },
    },
  },
  {
    ...rule(
      'section 14',
      'legal_guardian_representative_not_allowed',
      '',
      'relationship.legal_guardian',
    ),
    body: role('legal_guardian', 'representative'),
  },
  {
    ...rule(
      'section 14',
      'legal_guardian_requires_existing_representative',
      '',
      'relationship.legal_guardian',
    ),
    body: role('legal_guardian'),
  },
  {
    ...rule('section 14', 'authorizer_duplicate', 'U', 'relationship.authorizer'),
    others: [role('authorizer')],
    body: role('authorizer'),
  },
  {
    ...rule(
      'section 14',
      'authorizer_relationship_invalid_for_representative',
      'U',
      'relationship.authorizer',
    ),
    before: role('representative'),
    body: role('authorizer'),
  },
  {
    ...rule('section 14', 'individual_additional_person_not_allowed'),
    account: merchant({ identity: { entity_type: 'individual' } }),
    body: JENNY,
  },
  {
    ...rule(
      'section 14, a director of one human being',
      'invalid_relationship_for_identity_type_structure_and_country',
      'U',
      'relationship.director',
    ),
    account: merchant(at('identity.business_details.structure', 'single_member_llc')),
    body: role('director'),
  },
  {
    ...rule(
      'section 14, an owner of what nobody owns',
      'invalid_relationship_for_identity_type_structure_and_country',
      'U',
      'relationship.owner',
    ),
    account: merchant({ identity: { entity_type: 'non_profit' } }),
    body: role('owner'),
  },
  {
    ...rule('section 14', 'total_person_ownership_exceeded', 'U', 'relationship.percent_ownership'),
    others: [owner('60'), owner('39.9999999999')],
    body: owner('0.0000000002'),
  },
  {
    ...rule('section 10.3, a locked identity', 'immutable_identity_param', 'U', 'surname'),
    before: JENNY,
    state: { identity_locked: true },
    body: { surname: 'Roses' },
  },
];

const PLATFORM_CASES: readonly Case[] = [
  {
    ...rule('row 72', 'platform_registration_required'),
    later: { connect_registered: false },
    body: JENNY,
  },
  {
    ...rule('row 17', 'accounts_v2_access_blocked', 'U'),
    later: { accounts_v2_enabled: false },
    body: JENNY,
  },
  {
    ...rule('section 14', 'person_token_required', 'UD', 'person_token'),
    settings: { country: 'FR' },
    account: merchant(SELF_COLLECTED, { identity: { country: 'fr' } }),
    body: JENNY,
  },
];

function refuses(cases: readonly Case[]): void {
  for (const { name, settings, account, state, later, others, before, body, ...refusal } of cases) {
    it(`${name}: ${refusal.code}`, async () => {
      const platform = await server.platform(settings);
      const id = await platform.make('accounts', account ?? merchant());
      for (const other of others ?? []) await platform.make(`accounts/${id}/persons`, other);
      const person = before && (await platform.make(`accounts/${id}/persons`, before));
      if (state) await platform.state(id, state);
      const list = await platform.call(`accounts/${id}/persons`);
      if (later) await platform.ops('PATCH', '', later);
      const path = `accounts/${id}/persons${person === undefined ? '' : `/${person}`}`;
      assertRefused(await platform.call(path, body), refusal);
      if (later) await platform.ops('PATCH', '', GATES_OPEN);
      assert.equal((await platform.call(`accounts/${id}/persons`)).text, list.text);
    });
  }
}

const GATES_OPEN = { connect_registered: true, accounts_v2_enabled: true };

describe('rejected persons: fields', () => refuses(FIELD_CASES));
describe('rejected persons: roles', () => refuses(ROLE_CASES));
describe('rejected persons: state of the platform', () => refuses(PLATFORM_CASES));

describe('persons that conflict with stored data', () => {
  it('section 14: duplicate_person_not_allowed names the existing person', async () => {
    const platform = await server.platform();
    const id = await platform.make('accounts', merchant());
    const first = await platform.make(`accounts/${id}/persons`, JENNY);
    const body = { ...JENNY, given_name: ' JENNY ' };
    assertRefused(await platform.call(`accounts/${id}/persons`, body), {
      code: 'duplicate_person_not_allowed',
      ex: 'U',
      param: 'given_name',
      extra: { duplicate_person_id: first },
    });
  });

  it('section 9.1: the person of an individual account cannot be deleted', async () => {
    const platform = await server.platform();
    const individual = { identity: { entity_type: 'individual', individual: JENNY } };
    const id = await platform.make('accounts', merchant(individual));
    const listed = await platform.call(`accounts/${id}/persons`);
    const { data } = JSON.parse(listed.text) as { data: { id: string }[] };
    assert.equal(data.length, 1);
    const response = await platform.call(`accounts/${id}/persons/${data[0]?.id}`, undefined, {
      method: 'DELETE',
    });
    assertRefused(response, {
      code: 'immutable_identity_param',
      ex: 'U',
      param: 'identity.individual',
    });
  });

  it('section 10.3: fields verified in live mode cannot change', async () => {
    const platform = await server.platform();
    const live = true;
    const business = {
      registered_name: 'Furever',
      address: {
        country: 'us',
        line1: '1 Main St',
        city: 'Boston',
        state: 'MA',
        postal_code: '02108',
      },
      id_numbers: [{ type: 'us_ein', value: '123456789' }],
    };
    const id = await platform.make(
      'accounts',
      merchant(at('identity.business_details', business)),
      {
        live,
      },
    );
    const jenny = {
      ...JENNY,
      address: business.address,
      id_numbers: [{ type: 'us_ssn_last_4', value: '4321' }],
      ...role('representative'),
    };
    const person = await platform.make(`accounts/${id}/persons`, jenny, { live });
    const path = `accounts/${id}/persons/${person}`;
    assertRefused(await platform.call(path, { surname: 'Roses' }, { live }), {
      code: 'immutable_identity_param',
      ex: 'U',
      param: 'surname',
    });
    const name = at('identity.business_details.registered_name', 'Nevermore');
    assertRefused(await platform.call(`accounts/${id}`, name, { live }), {
      code: 'immutable_identity_param',
      ex: 'U',
      param: 'identity.business_details.registered_name',
    });
    // Sending the stored value is not a change, and the address is not fixed by the verification.
    await platform.make(path, { surname: 'Rosen', address: { line1: '2 Main St' } }, { live });
  });

  it('row 19: the person of an individual account must live in the country of the account', async () => {
    const platform = await server.platform();
    const individual = { identity: { entity_type: 'individual', individual: JENNY } };
    const id = await platform.make('accounts', merchant(individual));
    const listed = await platform.call(`accounts/${id}/persons`);
    const { data } = JSON.parse(listed.text) as { data: { id: string }[] };
    const body = { address: { country: 'ca' } };
    assertRefused(await platform.call(`accounts/${id}/persons/${data[0]?.id}`, body), {
      code: 'address_country_identity_country_mismatch',
      ex: 'U',
      param: 'address.country',
    });
  });

  it('row 48: document_purpose_invalid', async () => {
    const platform = await server.platform();
    const id = await platform.make('accounts', merchant());
    const file = await platform.register('files', {
      purpose: 'account_requirement',
      filename: 'passport.pdf',
      content_base64: Buffer.from('%PDF-1.7\n').toString('base64'),
      livemode: false,
    });
    const documents = { primary_verification: { type: 'front_back', front_back: { front: file } } };
    assertRefused(await platform.call(`accounts/${id}/persons`, { documents }), {
      code: 'document_purpose_invalid',
      param: 'documents.primary_verification.front_back.front',
    });
  });
});
