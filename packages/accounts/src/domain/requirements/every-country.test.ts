import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccountFields, EntityType, StoredAccount } from '../../model/account/account.js';
import type { EngineResult } from '../../model/account/derive-requirements.js';
import type { PersonFields } from '../../model/account/person.js';
import type { RequirementEntry } from '../../model/account/requirements.js';
import { DEFAULT_PLATFORM_SETTINGS } from '../../model/platform/platform-settings.js';
import { START_MS, testAccount, testPerson } from '../../testing/test-account.js';
import { countryCodes, isCountryOf } from '../reference/countries.js';
import { isEntityTypeIn } from '../reference/entity-types.js';
import { deriveRequirements } from './index.js';

// Source: accounts, section 16.2. An entry disappears as soon as its field is stored. Therefore
// every requirement of a country can be met, and an account that meets all of them has active
// capabilities.

/** Meeting the last entry of one kind can add entries of the next kind. */
const MAX_ROUND_COUNT = 6;

const NUMBERS = 'id_numbers';

type Tree = { [name: string]: unknown };

/** An account that provides all requested fields. */
class Applicant {
  readonly #fields: Tree;
  readonly #persons = new Map<string, Tree>();

  constructor(options: {
    readonly country: string;
    readonly entityType: EntityType;
    readonly configuration: 'merchant' | 'recipient';
    readonly dashboard: 'none' | undefined;
  }) {
    const capabilities =
      options.configuration === 'merchant'
        ? { card_payments: { requested: true } }
        : { vendor_balance: { vendor_transfers: { requested: true } } };
    this.#fields = {
      identity: { country: options.country, entity_type: options.entityType },
      configuration: { [options.configuration]: { capabilities } },
      ...(options.dashboard && {
        dashboard: options.dashboard,
        defaults: { responsibilities: { losses_collector: 'application' } },
      }),
    };
    if (options.entityType === 'individual') this.#persons.set('person_0', {});
  }

  derive(): EngineResult {
    const persons = [...this.#persons].map(([id, fields]) =>
      testPerson(id, fields as PersonFields, { livemode: true }),
    );
    return deriveRequirements({
      account: this.#account(),
      persons,
      platform: DEFAULT_PLATFORM_SETTINGS,
      nowMs: START_MS,
      newEntryId: () => 'reqent_1',
      digest: (text) => text,
    });
  }

  respond({ description, reference }: RequirementEntry): void {
    const individual = 'identity.individual.';
    if (reference?.resource !== undefined) this.#write(reference.resource, description);
    else if (description.startsWith('relationship.')) this.#addPerson(description);
    else if (description.startsWith(individual)) {
      this.#write('person_0', description.slice(individual.length));
    } else set(this.#fields, description);
  }

  #write(person: string, path: string): void {
    const fields = this.#persons.get(person);
    assert.ok(fields, person);
    set(fields, path);
  }

  #addPerson(path: string): void {
    const fields = path === 'relationship.owner' ? { percent_ownership: '100' } : {};
    const [, role = ''] = path.split('.');
    this.#persons.set(`person_${role}`, { relationship: { [role]: true, ...fields } });
  }

  #account(): StoredAccount {
    return testAccount(this.#fields as AccountFields, {
      livemode: true,
      individualId: this.#persons.has('person_0') ? 'person_0' : undefined,
    });
  }
}

/** Stores a value at a path, in the form that the path requires. */
function set(tree: Tree, path: string): void {
  const parts = path.split('.');
  const numbersAt = parts.indexOf(NUMBERS);
  const last = parts.pop() ?? '';
  if (numbersAt >= 0) parts.pop();
  const holder = parts.reduce<Tree>((inner, part) => {
    inner[part] ??= {};
    return inner[part] as Tree;
  }, tree);
  if (numbersAt >= 0) {
    const known = (holder[NUMBERS] as unknown[] | undefined) ?? [];
    holder[NUMBERS] = [...known, { type: last, value: '123' }];
  } else if (last === 'date_of_birth') holder[last] = { day: 1, month: 2, year: 1980 };
  else if (last === 'kana' || last === 'kanji') holder[last] = { line1: '1' };
  else if (path.includes('persons_provided')) holder[last] = true;
  else if (last.endsWith('_declaration') || path.endsWith('terms_of_service.account')) {
    holder[last] = { date: '2026-11-01T00:00:00.000Z', ip: '127.0.0.1' };
  } else holder[last] = 'something';
}

const ENTITY_TYPES = ['company', 'government_entity', 'individual', 'non_profit'] as const;

describe('providing every requested field leaves no requirements', () => {
  const check = (configuration: 'merchant' | 'recipient', dashboard: 'none' | undefined): void => {
    const countries = countryCodes().filter(
      (country) =>
        isCountryOf('merchant', country) ||
        (configuration === 'recipient' && isCountryOf('recipient_only', country)),
    );
    for (const country of countries) {
      for (const entityType of ENTITY_TYPES) {
        if (!isEntityTypeIn(entityType, country)) continue;
        const applicant = new Applicant({ country, entityType, configuration, dashboard });
        const about = `${country} ${entityType} ${configuration}`;
        let result = applicant.derive();
        assert.ok(result.requirements.entries.length > 0, about);
        for (let round = 0; round < MAX_ROUND_COUNT; round++) {
          for (const entry of result.requirements.entries) applicant.respond(entry);
          result = applicant.derive();
        }
        const left = result.requirements.entries.map(({ description }) => description);
        assert.deepEqual(left, [], about);
        for (const [name, { status }] of Object.entries(result.capabilities)) {
          assert.equal(status, 'active', `${about} ${name}`);
        }
      }
    }
  };

  it('for merchants in every country', () => check('merchant', undefined));
  it('for merchants whose platform collects requirements', () => check('merchant', 'none'));
  it('for recipients in every country', () => check('recipient', undefined));
});
