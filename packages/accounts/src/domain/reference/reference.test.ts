import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_PLATFORM_SETTINGS } from '../../model/platform/platform-settings.js';
import {
  capabilityRow,
  countryCodes,
  currencyCodes,
  defaultBlockedEmailDomains,
  defaultCrossBorder,
  defaultCurrency,
  defaultDeniedPlatformCountries,
  defaultUnsupportedPlaces,
  descriptorLimits,
  germanRegisterCourts,
  hasStateList,
  idNumberTypes,
  isCountryOf,
  isCurrencyAllowed,
  isEntityTypeIn,
  isGermanRegisterCourt,
  isIdNumberRefused,
  isIdNumberTypeOf,
  isMerchantCategoryCode,
  isOfferedIn,
  isOfferedTo,
  isPairAllowed,
  isStructureOf,
  localeTags,
  matchesIdNumberPattern,
  normaliseIdNumber,
  REFERENCE_LISTS,
  requestableCapabilities,
  requirementTable,
  stateCode,
  structures,
} from './index.js';

// Expected values: accounts, section 15. The counts come from that section and from the lists of
// the standards.

const UPPER = /^[A-Z]{2}$/;
const countriesOf = (set: 'merchant' | 'eea' | 'europe' | 'recipient_only'): string[] =>
  countryCodes().filter((country) => isCountryOf(set, country));

describe('country sets', () => {
  it('contain every ISO code once, and sets of the documented sizes', () => {
    assert.equal(countryCodes().length, 249);
    assert.equal(new Set(countryCodes()).size, 249);
    assert.ok(countryCodes().every((code) => UPPER.test(code)));
    assert.equal(countriesOf('merchant').length, 45);
    assert.equal(countriesOf('eea').length, 29);
    assert.equal(countriesOf('europe').length, 32);
    assert.equal(countriesOf('recipient_only').length, 76);
  });

  it('define Europe as the EEA with Switzerland, the United Kingdom and Gibraltar', () => {
    const more = countriesOf('europe').filter((country) => !isCountryOf('eea', country));
    assert.deepEqual(more, ['CH', 'GB', 'GI']);
  });

  it('separate payout-only countries from merchant countries', () => {
    assert.deepEqual(
      countriesOf('recipient_only').filter((c) => isCountryOf('merchant', c)),
      [],
    );
  });
});

describe('cross-border pairs', () => {
  const rules = defaultCrossBorder();
  const check = (pair: string, isRecipient: boolean, expected: boolean): void => {
    const [platform = '', account = ''] = pair.split('>');
    assert.equal(isPairAllowed([platform, account], { rules, isRecipient }), expected, pair);
  };

  it("allow the platform's own country, and most pairs of merchant countries", () => {
    check('BR>BR', false, true);
    check('US>DE', false, true);
    check('JP>US', true, true);
  });

  it('do not allow other countries for platforms of closed countries and accounts of BR and IN', () => {
    for (const platform of ['BR', 'IN', 'MY', 'TH', 'AE', 'MX'])
      check(`${platform}>US`, false, false);
    check('US>BR', false, false);
    check('US>IN', true, false);
  });

  it('allow payouts to other countries only from a few', () => {
    for (const platform of ['US', 'CA', 'CH', 'GB', 'FR']) check(`${platform}>AR`, true, true);
    for (const platform of ['JP', 'AU', 'SG', 'GI']) check(`${platform}>AR`, true, false);
  });

  it('give pairs in the settings precedence, with denials before permissions', () => {
    const own = { ...rules, allow: [['US', 'BR']], deny: [['US', 'DE']] } as const;
    assert.equal(isPairAllowed(['US', 'BR'], { rules: own, isRecipient: false }), true);
    assert.equal(isPairAllowed(['US', 'DE'], { rules: own, isRecipient: false }), false);
    const both = { ...own, allow: [['US', 'DE']] } as const;
    assert.equal(isPairAllowed(['US', 'DE'], { rules: both, isRecipient: false }), false);
  });
});

describe('currencies', () => {
  it('have a default for every country, and only codes of ISO 4217', () => {
    const codes = new Set(currencyCodes());
    for (const country of countryCodes()) {
      const currency = defaultCurrency(country);
      assert.ok(currency !== undefined && codes.has(currency), `${country} ${currency}`);
    }
    assert.ok(['usd', 'eur', 'bgn', 'jpy', 'kwd'].every((code) => codes.has(code)));
    assert.ok(['xts', 'xau', 'dem', 'hrk'].every((code) => !codes.has(code)));
  });

  it('allow merchants in each country their own currency', () => {
    for (const country of countriesOf('merchant')) {
      const currency = defaultCurrency(country);
      assert.ok(currency !== undefined && isCurrencyAllowed(currency, country), country);
    }
    assert.equal(defaultCurrency('BG'), 'eur');
    assert.equal(defaultCurrency('GI'), 'gbp');
    assert.equal(defaultCurrency('LI'), 'chf');
  });

  it('allow further ones if payouts in them are possible', () => {
    for (const [country, currency] of [
      ['DE', 'huf'],
      ['CZ', 'sek'],
      ['CH', 'nok'],
      ['HK', 'gbp'],
      ['AR', 'usd'],
    ] as const) {
      assert.ok(isCurrencyAllowed(currency, country), `${country} ${currency}`);
    }
    for (const [country, currency] of [
      ['US', 'eur'],
      ['CH', 'huf'],
      ['HK', 'jpy'],
      ['AR', 'eur'],
    ] as const) {
      assert.ok(!isCurrencyAllowed(currency, country), `${country} ${currency}`);
    }
  });
});

describe('capabilities', () => {
  it('can be requested under 48 ids by merchants, 10 by recipients and one by customers', () => {
    assert.equal(requestableCapabilities('merchant').length, 48);
    assert.deepEqual([...requestableCapabilities('recipient')].sort(), [
      'bank_accounts.ach',
      'bank_accounts.fedwire',
      'bank_accounts.fps',
      'bank_accounts.local',
      'bank_accounts.rtp',
      'bank_accounts.sepa',
      'bank_accounts.swift',
      'bank_accounts.wire',
      'cards',
      'vendor_balance.vendor_transfers',
    ]);
    assert.deepEqual(requestableCapabilities('customer'), ['automatic_indirect_tax']);
  });

  const isOffered = (owner: 'customer' | 'merchant' | 'recipient', id: string, country: string) => {
    const row = capabilityRow(owner, id);
    assert.ok(row, id);
    return isOfferedIn(row, country);
  };

  it('exist in the countries of the matrix', () => {
    const check = (id: string, yes: string, no: string): void => {
      for (const country of yes.split(' '))
        assert.ok(isOffered('merchant', id, country), `${id} ${country}`);
      for (const country of no.split(' '))
        assert.ok(!isOffered('merchant', id, country), `${id} ${country}`);
    };
    check('card_payments', 'US DE IN BR', 'AR ZA');
    check('link_payments', 'US DE', 'BR IN TH');
    check('affirm_payments', 'US CA', 'GB');
    check('gb_bank_transfer_payments', 'GB', 'GI');
    check('bacs_debit_payments', 'GB GI', 'IE');
    check('sepa_bank_transfer_payments', 'DE', 'CH GB');
    check('ideal_payments', 'CH AU JP', 'BR');
    check('pay_by_bank_payments', 'FI IE', 'ES');
    assert.ok(isOffered('recipient', 'bank_accounts.local', 'AR'));
    assert.ok(!isOffered('recipient', 'bank_accounts.ach', 'CA'));
    assert.ok(isOffered('recipient', 'bank_accounts.sepa', 'CH'));
    assert.ok(isOffered('customer', 'automatic_indirect_tax', 'AQ'));
  });

  it('are not available to some entity types', () => {
    const row = capabilityRow('merchant', 'klarna_payments');
    assert.ok(row);
    assert.equal(isOfferedTo(row, { country: 'SE', entityType: 'non_profit' }), false);
    assert.equal(isOfferedTo(row, { country: 'SE', entityType: 'company' }), true);
    const fpx = capabilityRow('merchant', 'fpx_payments');
    assert.ok(fpx);
    assert.equal(isOfferedTo(fpx, { country: 'MY', entityType: 'individual' }), false);
  });

  it('require only capabilities that exist', () => {
    for (const id of requestableCapabilities('merchant')) {
      const row = capabilityRow('merchant', id);
      const needed = [row?.needs ?? [], Object.values(row?.needs_in_country ?? {}).flat()].flat();
      for (const other of needed) assert.ok(capabilityRow('merchant', other), `${id} ${other}`);
    }
  });
});

describe('entity types and structures', () => {
  it('exist as documented', () => {
    assert.equal(isEntityTypeIn('individual', 'AE'), false);
    assert.equal(isEntityTypeIn('individual', 'NL'), false);
    assert.equal(isEntityTypeIn('individual', 'DE'), true);
    assert.equal(isEntityTypeIn('non_profit', 'AE'), false);
    assert.equal(isEntityTypeIn('government_entity', 'US'), true);
    assert.equal(isEntityTypeIn('government_entity', 'CA'), false);
  });

  it('are compatible by country', () => {
    assert.equal(structures().length, 27);
    const fits = (structure: string, country: string, entityType: 'company' | 'non_profit') =>
      isStructureOf(structure, { country, entityType });
    assert.ok(fits('single_member_llc', 'US', 'company'));
    assert.ok(!fits('single_member_llc', 'DE', 'company'));
    assert.ok(fits('free_zone_llc', 'AE', 'company'));
    assert.ok(!fits('private_company', 'US', 'company'));
    assert.ok(fits('private_company', 'SG', 'company'));
    assert.ok(fits('registered_charity', 'FR', 'non_profit'));
    assert.ok(!fits('registered_charity', 'AE', 'non_profit'));
  });
});

describe('id numbers', () => {
  it('have 115 types for businesses and 77 for persons, each with a pattern', () => {
    assert.equal(idNumberTypes('business').length, 115);
    assert.equal(idNumberTypes('person').length, 77);
    for (const holder of ['business', 'person'] as const) {
      for (const type of idNumberTypes(holder)) {
        assert.ok(countryCodes().includes(type.slice(0, 2).toUpperCase()), type);
        assert.equal(matchesIdNumberPattern(holder, type, '§'), false, type);
      }
    }
  });

  it('match complete values after blanks and separators are removed', () => {
    const check = (holder: 'business' | 'person', type: string, value: string, expected: boolean) =>
      assert.equal(
        matchesIdNumberPattern(holder, type, normaliseIdNumber(value)),
        expected,
        `${type} ${value}`,
      );
    check('business', 'us_ein', '12-3456789', true);
    check('business', 'us_ein', '12-34567890', false);
    check('business', 'de_hrn', 'hrb 1234', true);
    check('business', 'gb_crn', 'SC123456', true);
    check('business', 'gb_crn', '1SC123456', false);
    check('business', 'nl_vat', 'NL 123456789 B01', true);
    check('person', 'us_ssn', '123-45-6789', true);
    check('person', 'fi_hetu', '131052-308T', true);
    check('person', 'it_cf', 'RSSMRA85T10A562S', true);
    check('person', 'br_cpf', '123.456.789-09', true);
    check('person', 'us_ssn_last_4', '12345', false);
  });

  it('belong to the country of their first letters, and to two neighbours', () => {
    assert.ok(isIdNumberTypeOf('us_ein', 'US'));
    assert.ok(!isIdNumberTypeOf('us_ein', 'CA'));
    assert.ok(isIdNumberTypeOf('ch_uid', 'LI'));
    assert.ok(isIdNumberTypeOf('gb_crn', 'GI'));
    assert.ok(!isIdNumberTypeOf('ch_chid', 'LI'));
  });

  it('are rejected for entity types without such a number', () => {
    const check = (
      type: string,
      entityType: string | undefined,
      structure: string | undefined,
      expected: boolean,
    ) =>
      assert.equal(
        isIdNumberRefused(type, { entityType, structure }),
        expected,
        `${type} ${entityType} ${structure}`,
      );
    check('gb_crn', 'individual', undefined, true);
    check('gb_crn', 'company', 'sole_proprietorship', true);
    check('gb_crn', 'company', 'private_company', false);
    check('de_hrn', 'company', 'trust', false);
    check('de_hrn', 'company', 'sole_proprietorship', true);
    check('fr_rna', 'company', undefined, true);
    check('fr_rna', 'non_profit', undefined, false);
    check('au_in', 'company', undefined, false);
    check('au_in', 'company', 'private_company', true);
    check('fr_siren', 'non_profit', 'unincorporated_association', true);
    check('us_ein', 'individual', undefined, true);
    check('us_ein', 'individual', 'sole_proprietorship', false);
  });
});

describe('places', () => {
  it('find states by code, full code and name, ignoring case and accents', () => {
    for (const text of ['CA', 'us-ca', 'california', 'CALIFORNIA'])
      assert.equal(stateCode('US', text), 'CA');
    assert.equal(stateCode('BR', 'Sao Paulo'), 'SP');
    assert.equal(stateCode('AE', 'Dubai'), 'DU');
    assert.equal(stateCode('MX', 'ciudad de mexico'), 'CMX');
    assert.equal(stateCode('IT', 'MI'), 'MI');
    assert.equal(stateCode('US', 'Bavaria'), undefined);
    const listed = countryCodes().filter(hasStateList);
    assert.deepEqual(listed, ['AE', 'AU', 'BR', 'CA', 'IN', 'IT', 'MX', 'MY', 'US']);
  });
});

describe('small tables', () => {
  it('contain the documented numbers of entries', () => {
    assert.equal(localeTags().length, 84);
    assert.equal(germanRegisterCourts().length, 116);
    const codes = Array.from({ length: 10_000 }, (_, code) => String(code).padStart(4, '0'));
    assert.equal(codes.filter(isMerchantCategoryCode).length, 981);
    for (const code of ['7299', '5734', '5812', '5045', '8398'])
      assert.ok(isMerchantCategoryCode(code));
    for (const code of ['0000', '9999', '57']) assert.ok(!isMerchantCategoryCode(code));
    assert.deepEqual(descriptorLimits().latin.descriptor, { min: 5, max: 22 });
    assert.deepEqual(descriptorLimits().kanji.descriptor, { min: 1, max: 17 });
  });

  it('find register courts in every accepted form', () => {
    for (const name of [
      'München',
      'Amtsgericht Muenchen',
      'AG MÜNCHEN',
      'Berlin',
      'berlin (charlottenburg)',
      'Kempten',
      'Giessen',
    ]) {
      assert.ok(isGermanRegisterCourt(name), name);
    }
    for (const name of ['Springfield', 'Amtsgericht', ''])
      assert.ok(!isGermanRegisterCourt(name), name);
  });

  it('require a company number type that exists in every merchant country but one', () => {
    const { primary_business_id_number: types, person_id_number: persons } = requirementTable();
    assert.deepEqual(
      countriesOf('merchant').filter((country) => !(country in types)),
      ['IN'],
    );
    for (const [country, type] of Object.entries(types)) {
      assert.ok(idNumberTypes('business').includes(type) && isIdNumberTypeOf(type, country), type);
    }
    for (const [country, type] of Object.entries(persons)) {
      assert.ok(idNumberTypes('person').includes(type) && isIdNumberTypeOf(type, country), type);
    }
  });
});

describe('defaults of a platform', () => {
  it('match the data files', () => {
    const settings = DEFAULT_PLATFORM_SETTINGS;
    assert.deepEqual(settings.cross_border, defaultCrossBorder());
    assert.deepEqual(
      settings.platform_country_capabilities_denied,
      defaultDeniedPlatformCountries(),
    );
    assert.deepEqual(settings.recipient_blocked_email_domains, defaultBlockedEmailDomains());
    const { states, postal_prefixes: prefixes } = defaultUnsupportedPlaces();
    assert.deepEqual(settings.unsupported_states, states);
    assert.deepEqual(settings.unsupported_postal_codes, prefixes);
  });

  it('provide all lists for shape validation', () => {
    assert.equal(REFERENCE_LISTS.countries.size, 249);
    assert.ok(REFERENCE_LISTS.currencies.has('usd'));
    assert.equal(REFERENCE_LISTS.businessIdTypes.length, 115);
    assert.equal(REFERENCE_LISTS.personIdTypes.length, 77);
    assert.equal(REFERENCE_LISTS.locales.length, 84);
    assert.equal(REFERENCE_LISTS.structures.length, 27);
    assert.equal(REFERENCE_LISTS.capabilities.merchant.length, 48);
    assert.equal(REFERENCE_LISTS.defaultCurrency('DE'), 'eur');
  });
});
