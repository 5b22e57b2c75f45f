// Source: docs/spec/accounts.md, sections 8 to 10; the schemas of docs/api/accounts.json.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HIDDEN_FIELDS, personName, storedValues } from '../account-form.js';
import { groupsOf, isAtField } from './field-groups.js';
import { asTyped, readText, requestFields, textOf, withValue } from './record-fields.js';
import { changesOf, fromLeaves, leavesOf } from './request-changes.js';

const { schemas } = JSON.parse(
  readFileSync(new URL('../../../../../docs/api/accounts.json', import.meta.url), 'utf8'),
).components;
const fieldsOf = (name: string) => requestFields(schemas[name], schemas, HIDDEN_FIELDS);
const account = fieldsOf('AccountUpdate');
const person = fieldsOf('PersonUpdate');
const at = (path: string) =>
  [...account, ...person].find((field) => field.path.join('.') === path) ?? assert.fail(path);

describe('The form of a request', () => {
  it('has an input for each value at any depth', () => {
    for (const [path, kind] of [
      ['display_name', 'text'],
      ['metadata', 'map'],
      ['identity.country', 'choice'],
      ['identity.business_details.address.line1', 'text'],
      ['identity.business_details.estimated_worker_count', 'integer'],
      ['identity.business_details.id_numbers', 'json'],
      ['configuration.merchant.capabilities.card_payments.requested', 'flag'],
      ['defaults.locales', 'list'],
      ['date_of_birth.day', 'integer'],
    ] as const) {
      assert.equal(at(path).kind, kind, path);
    }
    assert.ok(at('identity.country').choices.includes('GB'));
    const paths = [...account, ...person].map(({ path }) => path.join('.'));
    assert.ok(!paths.some((path) => /^(include|account_token|person_token)$/.test(path)));
    assert.ok(!paths.some((path) => path.startsWith('configuration.storer')));
    assert.ok(!paths.includes('documents.passport.type'), 'it has only one value');
  });

  it('has groups with titles', () => {
    const titles = groupsOf(account).map(({ title }) => title);
    assert.equal(titles[0], 'General');
    assert.ok(titles.includes('Configuration: merchant: capabilities'));
    assert.ok(titles.includes('Identity: business details'));
    assert.equal(new Set(titles).size, titles.length);
    const fields = groupsOf(account).flatMap((group) => group.fields);
    assert.equal(fields.length, account.length);
  });

  it('finds the fields of a requirement', () => {
    const names = (path: string) =>
      account.filter((field) => isAtField(field, path)).map((field) => field.path.at(-1));
    assert.deepEqual(names('identity.business_details.registered_name'), ['registered_name']);
    assert.deepEqual(names('identity.attestations.persons_provided'), [
      'directors',
      'executives',
      'owners',
      'ownership_exemption_reason',
    ]);
    assert.deepEqual(names('identity.business_details.id_numbers.0.value'), ['id_numbers']);
    assert.deepEqual(names('unknown'), []);
  });

  it('reads lines of a map', () => {
    const metadata = at('metadata');
    const value = { order: '1', note: 'a = b' };
    assert.deepEqual(readText(metadata, textOf(metadata, value)), { value });
    assert.equal(readText(metadata, 'no value'), undefined);
    assert.deepEqual(readText(at('date_of_birth.day'), ''), { value: undefined });
  });

  it('changes only the added entry of any map', () => {
    const metadata = at('metadata');
    const string = fc.string({ unit: fc.constantFrom(...'ab1=,{}[]" \t\r\n\\\u2028') });
    const map = fc.dictionary(fc.oneof(string, fc.string()), string, { maxKeys: 4 });
    const examples: [Record<string, string>][] = [
      [{ note: 'line 1\nmode = live', 'a=b': '1', pad: ' x ' }],
      [{ 'a\rb': '1' }],
      [{ '{"a"': '1' }],
      [{ a: '' }],
      [JSON.parse('{"__proto__": "1"}')],
    ];
    fc.assert(
      fc.property(map, (value) => {
        const read = readText(metadata, asTyped(textOf(metadata, value)))?.value ?? {};
        assert.equal(JSON.stringify(read), JSON.stringify(value));
        const edited = { ...(read as object), added: '1' };
        assert.deepEqual(changesOf(account, { metadata: value }, { metadata: edited }), {
          metadata: { added: '1' },
        });
      }),
      { examples, numRuns: 300 },
    );
    assert.deepEqual(readText(metadata, '{"a=b": "1"}'), { value: { 'a=b': '1' } });
    assert.equal(readText(metadata, '{"a=b": '), undefined);
  });

  it('reads the same list and text again', () => {
    const locales = at('defaults.locales');
    const string = fc.string({ unit: fc.constantFrom(...'ab,[]" \r\n') });
    fc.assert(
      fc.property(fc.array(string, { maxLength: 4 }), (value) => {
        const read = readText(locales, asTyped(textOf(locales, value)))?.value ?? [];
        assert.deepEqual(read, value);
      }),
      { examples: [[['a, b']], [['']], [['[a']]], numRuns: 300 },
    );
    assert.equal(textOf(locales, ['de', 'en']), 'de, en');
    assert.equal(readText(locales, '["a'), undefined);
    const name = at('display_name');
    for (const value of ['a\nb', 'a\r\nb', ' a '])
      assert.deepEqual(readText(name, asTyped(textOf(name, value)), value), { value });
  });

  it('shows a stored account as a request', () => {
    const stored = {
      display_name: 'Furever',
      contact_email: null,
      configuration: {
        customer: null,
        recipient: { applied: null },
        merchant: {
          applied: '2026-01-01T00:00:00.000Z',
          mcc: '5734',
          capabilities: { card_payments: { status: 'restricted' } },
        },
      },
      identity: { country: 'US' },
    };
    const leaves = leavesOf(account, storedValues(account, stored));
    const requested = (name: string) => leaves[`configuration.merchant.capabilities.${name}`];
    assert.equal(requested('card_payments.requested'), true);
    assert.equal(requested('link_payments.requested'), false);
    assert.equal(leaves['configuration.merchant.applied'], true);
    assert.equal(leaves['configuration.recipient.applied'], false);
    assert.equal(leaves['configuration.customer.applied'], undefined);
    assert.equal(leaves['identity.country'], 'US');
    assert.equal('contact_email' in leaves, false);
    assert.deepEqual(
      changesOf(account, storedValues(account, stored), fromLeaves(account, leaves)),
      {},
    );
  });

  it('sends only what changed', () => {
    const stored = {
      display_name: 'Furever',
      metadata: { old: '1', kept: '2' },
      identity: { country: 'US', business_details: { phone: '+1' } },
    };
    const change = (path: string, value: unknown) =>
      changesOf(account, stored, withValue(stored, path.split('.'), value));
    assert.deepEqual(change('display_name', 'Other'), { display_name: 'Other' });
    assert.deepEqual(change('display_name', null), { display_name: null });
    assert.deepEqual(change('identity.business_details.phone', '+2'), {
      identity: { business_details: { phone: '+2' } },
    });
    assert.deepEqual(change('metadata', { kept: '2', more: '3' }), {
      metadata: { old: null, more: '3' },
    });
    assert.deepEqual(change('contact_email', null), {});
  });

  it('sends dates, attestations and documents as a whole', () => {
    const stored = { date_of_birth: { day: 1, month: 2, year: 1990 } };
    const later = withValue(stored, ['date_of_birth', 'day'], 3);
    assert.deepEqual(changesOf(person, stored, later), {
      date_of_birth: { day: 3, month: 2, year: 1990 },
    });
    const none = { date_of_birth: { day: undefined, month: undefined, year: undefined } };
    assert.deepEqual(changesOf(person, stored, none), { date_of_birth: null });
    const passport = { documents: { passport: { files: ['file_1'] } } };
    assert.deepEqual(changesOf(person, {}, passport), {
      documents: { passport: { type: 'files', files: ['file_1'] } },
    });
    const terms = { date: '2026-01-01T00:00:00Z', ip: '192.0.2.1' };
    const of = (account: object) => ({
      identity: { attestations: { terms_of_service: { account } } },
    });
    assert.deepEqual(
      changesOf(account, of(terms), of({ ...terms, ip: '192.0.2.2' })),
      of({ ...terms, ip: '192.0.2.2' }),
    );
  });

  it('merges changes by field', () => {
    const values = { identity: { country: 'US' }, display_name: 'a' };
    assert.deepEqual(leavesOf(account, values), { 'identity.country': 'US', display_name: 'a' });
    assert.deepEqual(fromLeaves(account, leavesOf(account, values)), values);
  });

  it('names a person', () => {
    assert.equal(personName({ id: 'person_1', given_name: 'Ann' }), 'Ann');
    assert.equal(personName({ id: 'person_1' }), 'person_1');
  });
});
