// Source: accounts, sections 13 and 15. Real details of businesses in these countries break no
// rule.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, customer, merchant, recipient } from '../../../testing/account-bodies.js';
import type { Json } from '../../../testing/test-platform.js';
import { testServer } from '../../../testing/test-server.js';

const server = testServer();

interface Business {
  readonly country: string;
  readonly address: Json;
  readonly phone: string;
  readonly id?: Json;
  readonly structure?: string;
  readonly capabilities?: readonly string[];
  readonly settings?: Json;
  readonly more?: Json;
}

const BUSINESSES: readonly Business[] = [
  {
    country: 'us',
    address: {
      line1: '1234 Main Street, Apt. #5',
      city: 'San Francisco',
      state: 'CA',
      postal_code: '94111-1804',
    },
    phone: '(415) 555-2671',
    id: { type: 'us_ein', value: '12-3456789' },
    structure: 'multi_member_llc',
    capabilities: ['ach_debit_payments', 'cashapp_payments', 'link_payments'],
  },
  {
    country: 'ca',
    address: {
      line1: "24 Rue de l'Église",
      city: 'Montréal',
      state: 'Québec',
      postal_code: 'H2Y 1C6',
    },
    phone: '+1 514 555 0199',
    id: { type: 'ca_cn', value: '1234567' },
    structure: 'private_corporation',
    capabilities: ['acss_debit_payments'],
  },
  {
    country: 'gb',
    address: {
      line1: '10–12 Downing St',
      line2: 'Flat 2/3',
      city: 'London',
      postal_code: 'SW1A 2AA',
      state: 'Greater London',
    },
    phone: '020 7946 0958',
    id: { type: 'gb_crn', value: 'SC123456' },
    structure: 'private_company',
    capabilities: ['bacs_debit_payments', 'pay_by_bank_payments'],
  },
  {
    country: 'de',
    address: {
      line1: 'Königstraße 1 (Hinterhaus)',
      city: 'München',
      postal_code: '80331',
      state: 'Bayern',
    },
    phone: '+49 89 123456',
    id: { type: 'de_hrn', value: 'HRB 123456', registrar: 'Amtsgericht München' },
    capabilities: ['sepa_debit_payments', 'klarna_payments'],
  },
  {
    country: 'fr',
    address: { line1: "1 bis, rue de l'Université", city: 'Paris', postal_code: '75007' },
    phone: '01 23 45 67 89',
    id: { type: 'fr_siren', value: '552 008 443' },
    capabilities: ['cartes_bancaires_payments'],
  },
  {
    country: 'nl',
    address: { line1: 'Keizersgracht 126', city: 'Amsterdam', postal_code: '1015CW' },
    phone: '+31 20 123 4567',
    id: { type: 'nl_kvk', value: '12345678' },
    capabilities: ['ideal_payments'],
  },
  {
    country: 'se',
    address: { line1: 'Strandvägen 7A', city: 'Stockholm', postal_code: '11456' },
    phone: '08-123 456 78',
    id: { type: 'se_orgnr', value: '556036-0793' },
    capabilities: ['swish_payments'],
  },
  {
    country: 'ie',
    address: {
      line1: '1 Grand Canal Quay',
      city: 'Dublin',
      postal_code: 'D02 X285',
      state: 'Co. Dublin',
    },
    phone: '+353 1 234 5678',
    id: { type: 'ie_crn', value: '123456' },
  },
  {
    country: 'pl',
    address: { line1: 'ul. Żurawia 6/12', city: 'Łódź', postal_code: '90-001' },
    phone: '+48 22 123 45 67',
    id: { type: 'pl_nip', value: '856-734-62-15' },
    capabilities: ['p24_payments', 'blik_payments', 'blik_recurring_payments'],
  },
  {
    country: 'pt',
    address: { line1: 'Av. da Liberdade, nº 110', city: 'Lisboa', postal_code: '1269-046' },
    phone: '+351 21 123 4567',
    capabilities: ['multibanco_payments'],
  },
  {
    country: 'ch',
    address: { line1: 'Bahnhofstrasse 1', city: 'Zürich', postal_code: '8001' },
    phone: '+41 44 123 45 67',
    id: { type: 'ch_uid', value: 'CHE-123.456.789 MWST' },
    capabilities: ['twint_payments'],
  },
  {
    country: 'li',
    address: { line1: 'Städtle 49', city: 'Vaduz', postal_code: '9490' },
    phone: '+423 236 60 00',
    id: { type: 'ch_uid', value: 'CHE-123.456.789' },
  },
  {
    country: 'gi',
    address: { line1: '1 Main Street', city: 'Gibraltar', postal_code: 'GX11 1AA' },
    phone: '+350 200 12345',
    id: { type: 'gb_crn', value: '12345678' },
  },
  {
    country: 'it',
    address: { line1: 'Via Monte Napoleone, 8', city: 'Milano', state: 'MI', postal_code: '20121' },
    phone: '02 1234 5678',
    id: { type: 'it_vat', value: 'IT00743110157' },
  },
  {
    country: 'gr',
    address: { line1: 'Ερμού 1', city: 'Αθήνα', postal_code: '105 63' },
    phone: '+30 21 0123 4567',
    id: { type: 'gr_afm', value: '094259216' },
  },
  {
    country: 'au',
    address: {
      line1: 'Level 3, 48 Pirrama Rd',
      city: 'Pyrmont',
      state: 'New South Wales',
      postal_code: '2009',
    },
    phone: '(02) 9374 4000',
    id: { type: 'au_abn', value: '83 914 571 673' },
    structure: 'private_company',
    capabilities: ['au_becs_debit_payments', 'zip_payments', 'afterpay_clearpay_payments'],
  },
  {
    country: 'nz',
    address: { line1: '33 Customhouse Quay', city: 'Wellington', postal_code: '6011' },
    phone: '04 123 4567',
    id: { type: 'nz_bn', value: '9429000000000' },
  },
  {
    country: 'sg',
    address: { line1: '#12-01, 1 Raffles Place', city: 'Singapore', postal_code: '048616' },
    phone: '6123 4567',
    id: { type: 'sg_uen', value: '201912345K' },
    capabilities: ['paynow_payments', 'grabpay_payments'],
  },
  {
    country: 'hk',
    address: { line1: '1 Queen’s Road Central', city: 'Central', state: 'Hong Kong Island' },
    phone: '2123 4567',
    id: { type: 'hk_br', value: '12345678-000' },
  },
  {
    country: 'my',
    address: {
      line1: 'Jalan P. Ramlee',
      city: 'Kuala Lumpur',
      state: 'Kuala Lumpur',
      postal_code: '50250',
    },
    phone: '03-1234 5678',
    id: { type: 'my_brn', value: '202001012345' },
    settings: { country: 'MY' },
    capabilities: ['fpx_payments'],
  },
  {
    country: 'ae',
    address: { line1: 'Sheikh Zayed Road', city: 'Dubai', state: 'Dubai' },
    phone: '04 123 4567',
    id: { type: 'ae_crn', value: 'CN-1234567' },
    structure: 'free_zone_llc',
  },
  {
    country: 'mx',
    address: {
      line1: 'Av. Paseo de la Reforma 222',
      city: 'Ciudad de México',
      state: 'CDMX',
      postal_code: '06600',
    },
    phone: '55 1234 5678',
    id: { type: 'mx_rfc', value: 'ABC 010101 AB9' },
    capabilities: ['oxxo_payments', 'mx_bank_transfer_payments'],
  },
  {
    country: 'br',
    address: {
      line1: 'Av. Paulista, 1.578',
      city: 'São Paulo',
      state: 'SP',
      postal_code: '01310-200',
    },
    phone: '(11) 91234-5678',
    id: { type: 'br_cnpj', value: '16.727.230/0001-97' },
    settings: { country: 'BR' },
    capabilities: ['boleto_payments'],
  },
  {
    country: 'th',
    address: { line1: '999/9 ถนนพระราม 1', city: 'กรุงเทพมหานคร', postal_code: '10330' },
    phone: '02 123 4567',
    capabilities: ['promptpay_payments'],
  },
  {
    country: 'jp',
    address: {
      line1: '3-27-15',
      city: 'Shibuya-ku',
      state: 'Tokyo',
      town: 'Jingumae 3-chome',
      postal_code: '1500001',
    },
    phone: '03-1234-5678',
    id: { type: 'jp_cn', value: '0110-01-012345' },
    capabilities: ['konbini_payments', 'jp_bank_transfer_payments', 'jcb_payments'],
    more: {
      script_addresses: {
        kana: {
          country: 'jp',
          postal_code: '1500001',
          state: 'ﾄｳｷﾖｳﾄ',
          city: 'ｼﾌﾞﾔ',
          town: 'ｼﾞﾝｸﾞｳﾏｴ 3-',
          line1: '27-15',
        },
        kanji: {
          country: 'jp',
          postal_code: '１５０－０００１',
          state: '東京都',
          city: '渋谷区',
          town: '神宮前　３丁目',
          line1: '２７－１５ ヶ々〆',
        },
      },
      script_names: {
        kana: { registered_name: 'カブシキガイシヤ フアーエバー' },
        kanji: { registered_name: '株式会社ファーエバー' },
      },
    },
  },
];

describe('a merchant is created with the details of its country', () => {
  for (const {
    country,
    address,
    phone,
    id,
    structure,
    capabilities,
    settings,
    more,
  } of BUSINESSES) {
    it(country.toUpperCase(), async () => {
      const platform = await server.platform(settings);
      const requested = (capabilities ?? []).map((name) => [name, { requested: true }]);
      const body = merchant(
        {
          identity: {
            country,
            business_details: {
              registered_name: 'Furever',
              address: { country, ...address },
              phone,
              ...(id && { id_numbers: [id] }),
              ...(structure !== undefined && { structure }),
              ...more,
            },
          },
        },
        at('configuration.merchant.capabilities', Object.fromEntries(requested)),
        { include: ['identity', 'defaults', 'configuration.merchant'] },
      );
      const response = await platform.call('accounts', body);
      assert.equal(response.status, 200, response.text);
      const account = JSON.parse(response.text);
      assert.equal(account.identity.country, country.toUpperCase());
      assert.equal(account.identity.business_details.address.country, country.toUpperCase());
      for (const [name] of requested) {
        const status = account.configuration.merchant.capabilities[String(name)]?.status;
        assert.equal(status, 'active', `${name} ${response.text}`);
      }
      if (id)
        assert.ok(
          !response.text.includes(String(Reflect.get(id, 'value'))),
          'the number stays inside',
        );
    });
  }
});

describe('alternative forms are accepted', () => {
  const CASES: readonly (readonly [name: string, body: Json])[] = [
    ['a web address without a scheme', at('defaults.profile.business_url', 'furever.example.com')],
    [
      'a web address with a path',
      at('defaults.profile.business_url', 'https://furever.example.com/a-b/c?d=e#f'),
    ],
    [
      'a web address of the wide world',
      at('defaults.profile.business_url', 'https://bücher.example'),
    ],
    ['a time zone', at('defaults.timezone', 'America/Argentina/Buenos_Aires')],
    ['UTC', at('defaults.timezone', 'UTC')],
    ['the test phone', { contact_phone: '0000000000' }],
    ['an address with a plus', { contact_email: 'jenny.rosen+test@mail.example.co.uk' }],
    ['a currency in capitals', { ...customer(), defaults: { currency: 'JPY' } }],
    [
      'an IPv6 address',
      customer(at('configuration.customer.automatic_indirect_tax.ip_address', '2001:db8::1')),
    ],
    [
      'a private address',
      customer(at('configuration.customer.automatic_indirect_tax.ip_address', '10.0.0.1')),
    ],
    [
      'a descriptor with accents',
      merchant(
        at('configuration.merchant.statement_descriptor', {
          descriptor: 'CAFÉ & CO. #1',
          prefix: 'CF',
        }),
      ),
    ],
    [
      'konbini hours',
      merchant(
        at('configuration.merchant.konbini_payments.support', {
          phone: '03-1234-5678',
          hours: { start_time: '09:00', end_time: '17:30' },
        }),
      ),
    ],
    [
      'a creditor identifier',
      merchant(
        at('configuration.merchant.sepa_debit_payments.creditor_id', 'de98 zzz 0999 9999 999'),
      ),
    ],
    [
      'four custom fields',
      customer(
        at('configuration.customer.billing.invoice', {
          prefix: 'ABC123',
          next_sequence: 7,
          custom_fields: ['a', 'b', 'c', 'd'].map((name) => ({ name, value: '1' })),
        }),
      ),
    ],
    [
      'a ready-made payment method',
      customer(at('configuration.customer.billing.default_payment_method', 'pm_card_visa')),
    ],
    [
      'a ready-made document',
      merchant(
        at('identity.business_details.documents.proof_of_address', {
          type: 'files',
          files: ['file_address_success'],
        }),
      ),
    ],
    [
      'an address abroad of a customer',
      customer(
        at('configuration.customer.shipping', {
          name: 'Jenny',
          address: { country: 'AR', postal_code: 'C1420' },
        }),
      ),
    ],
    [
      'a recipient in a country of payouts alone',
      recipient({ identity: { country: 'ar', entity_type: 'company' } }),
    ],
    [
      'the earliest births of test mode',
      merchant({
        identity: {
          entity_type: 'individual',
          individual: { date_of_birth: { day: 1, month: 1, year: 1901 } },
        },
      }),
    ],
  ];
  for (const [name, body] of CASES) {
    it(name, async () => {
      const platform = await server.platform();
      const response = await platform.call('accounts', body);
      assert.equal(response.status, 200, response.text);
    });
  }
});
