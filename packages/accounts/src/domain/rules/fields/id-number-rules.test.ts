import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checksumsOf,
  idNumberTypes,
  matchesIdNumberPattern,
  normaliseIdNumber,
} from '../../reference/id-numbers.js';
import { checksumValidators } from './libraries.js';

const isRight = (name: string, number: string): boolean | undefined => {
  const [country = '', validator = ''] = name.split('.');
  return checksumValidators(country.toLowerCase())[validator]?.validate(number).isValid;
};

describe('checksums of id numbers', () => {
  it('exist for every type that names one', () => {
    for (const holder of ['business', 'person'] as const) {
      for (const type of idNumberTypes(holder)) {
        for (const name of checksumsOf(holder, type)) {
          assert.equal(typeof isRight(name, '1'), 'boolean', `${type} ${name}`);
        }
      }
    }
  });

  it('accept examples published by their issuers, and no other last digit', () => {
    const EXAMPLES = [
      ['business', 'de_vat', 'DE 136 695 976', 'DE136695977'],
      ['business', 'fr_siren', '552 008 443', '552008444'],
      ['business', 'it_vat', '00743110157', '00743110158'],
      ['business', 'nl_vat', 'NL 004495445 B01', 'NL004495446B01'],
      ['business', 'pl_nip', '856-734-62-15', '8567346216'],
      ['business', 'au_abn', '83 914 571 673', '99999999999'],
      ['business', 'br_cnpj', '16.727.230/0001-97', '16727230000198'],
      ['person', 'br_cpf', '390.533.447-05', '23100299900'],
      ['person', 'ca_sin', '123-456-782', '999999999'],
      ['person', 'nl_bsn', '1112.22.333', '111252333'],
      ['person', 'it_cf', 'RCCMNL83S18D969H', 'RCCMNL83S18D967H'],
    ] as const;
    for (const [holder, type, right, wrong] of EXAMPLES) {
      const check = (text: string): boolean => {
        const number = normaliseIdNumber(text);
        assert.ok(matchesIdNumberPattern(holder, type, number), `${type} ${text}`);
        return checksumsOf(holder, type).some((name) => isRight(name, number));
      };
      assert.ok(check(right), `${type} ${right}`);
      assert.ok(!check(wrong), `${type} ${wrong}`);
    }
  });
});
