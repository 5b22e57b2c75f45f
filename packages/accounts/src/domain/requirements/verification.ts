import type { Verification } from '../../model/account/account.js';
import type { Documents, IdNumber } from '../../model/account/parts.js';
import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import { normaliseIdNumber } from '../reference/id-numbers.js';
import { type Capability, type Finding, personReference } from './missing-field.js';
import { addressMembers, personNumberTypes } from './missing-person-fields.js';
import type { RequirementsContext } from './requirements-context.js';

/** Data that is verified together, and the fields to which findings can refer. */
interface Target {
  /** Target of the verification: `business`, `person:<id>` or `document:<file id>`. */
  readonly name: string;
  /** Verified data; an outcome is valid only for the same data. */
  readonly data: unknown;
  readonly magic: Magic;
  readonly at: AffectedFields;
}

interface AffectedFields {
  readonly reference?: Finding['reference'];
  /** Fields that a failure can refer to. */
  readonly number: AffectedField;
  readonly address: AffectedField;
  readonly birth: AffectedField;
  readonly other: AffectedField;
}

interface AffectedField {
  readonly description: string;
  readonly restricts: readonly Capability[];
}

/** Simulated outcome of a test-mode value. Source: accounts, section 16.5. */
type Magic = 'success' | 'pending' | { readonly failed: string };

export interface VerificationResult {
  readonly verifications: Readonly<Record<string, Verification>>;
  readonly findings: readonly Finding[];
  /** Whether there is a sanctions alert. */
  readonly isListed: boolean;
}

/** Verifies all complete data. Unchanged data keeps its earlier outcome. */
export function verify(context: RequirementsContext): VerificationResult {
  const verifications: Record<string, Verification> = {};
  const findings: Finding[] = [];
  for (const target of targetsOf(context)) {
    const verification = outcomeOf(context, target);
    verifications[target.name] = verification;
    if (verification.status !== 'success') findings.push(findingOf(target, verification));
  }
  return { verifications, findings, isListed: checkSanctions(context, verifications) };
}

function outcomeOf(context: RequirementsContext, target: Target): Verification {
  const { input, account } = context;
  const checked = input.digest(JSON.stringify([target.name, target.data]));
  const before = account.verifications[target.name];
  const known = before?.checked === checked ? before : undefined;
  const decided = input.outcomes?.[target.name];
  if (decided !== undefined) {
    return decided === 'success'
      ? { status: 'success', checked }
      : { status: 'failed', code: decided, checked };
  }
  if (known && known.status !== 'pending') return known;
  const isManual = input.platform.verification_mode === 'manual';
  if (known?.status === 'pending') {
    // In manual mode the operator decides; a pending magic value succeeds at the next tick.
    return !isManual && input.completesPendingChecks ? { status: 'success', checked } : known;
  }
  if (isManual) return { status: 'pending', checked };
  const magic = account.livemode ? 'success' : target.magic;
  return typeof magic === 'string'
    ? { status: magic, checked }
    : { status: 'failed', code: magic.failed, checked };
}

function findingOf({ at }: Target, { status, code }: Verification): Finding {
  const field = fieldOf(at, code);
  return {
    ...field,
    ...(at.reference && { reference: at.reference }),
    status: status === 'failed' ? 'failed' : 'pending',
    ...(code !== undefined && { code }),
  };
}

function fieldOf(options: AffectedFields, code: string | undefined): AffectedField {
  if (code === undefined) return options.number;
  if (code.includes('address')) return options.address;
  if (code.includes('dob')) return options.birth;
  return /tax_id|id_number|keyed_identity|document/.test(code) ? options.number : options.other;
}

function targetsOf(context: RequirementsContext): Target[] {
  if (!context.hasRequest) return [];
  return [
    ...businessTargets(context),
    ...context.input.persons.flatMap((person) => personTargets(context, person)),
  ];
}

function businessTargets(context: RequirementsContext): Target[] {
  if (!context.isOrganisation) return [];
  const business = context.account.fields.identity?.business_details ?? {};
  const base = 'identity.business_details';
  const all = context.restricts.business;
  const documents = documentTargets(business.documents, (name) => ({
    description: `${base}.documents.${name}`,
    restricts: all,
  }));
  const { registered_name: name, id_numbers: numbers = [], address } = business;
  const isComplete =
    Boolean(name) &&
    numbers.length > 0 &&
    addressMembers(context.country).every((member) => address?.[member]);
  if (!isComplete && !failsAtOnce(numbers)) return documents;
  const magic = magicOf({
    numbers,
    line1: address?.line1,
    documents: business.documents,
    mismatch: 'verification_failed_tax_id_match',
  });
  const nameAt = { description: `${base}.registered_name`, restricts: all };
  const target: Target = {
    name: 'business',
    data: [name, numbers, address, fileIds(business.documents)],
    magic,
    at: {
      number: {
        description: `${base}.id_numbers.${numbers[0]?.type}`,
        restricts: context.restricts.numbers,
      },
      address: { description: `${base}.address.line1`, restricts: all },
      birth: nameAt,
      other: nameAt,
    },
  };
  return [target, ...documents];
}

function personTargets(context: RequirementsContext, person: StoredPerson): Target[] {
  const isIndividual = person.id === context.account.individualId;
  const base = isIndividual ? 'identity.individual.' : '';
  const restricts = isIndividual ? context.restricts.business : context.restricts.merchant;
  const field = (description: string): AffectedField => ({
    description: base + description,
    restricts,
  });
  const reference = isIndividual ? undefined : personReference(person.id);
  const { fields } = person;
  const documents = documentTargets(
    fields.documents,
    (name) => field(`documents.${name}`),
    reference,
  );
  const numbers = fields.id_numbers ?? [];
  if (!isPersonComplete(context, person) && !failsAtOnce(numbers)) return documents;
  const type = numbers[0]?.type;
  const target: Target = {
    name: `person:${person.id}`,
    data: [
      fields.given_name,
      fields.surname,
      fields.date_of_birth,
      fields.address,
      numbers,
      fileIds(fields.documents),
    ],
    magic: magicOf({
      numbers,
      line1: fields.address?.line1,
      documents: fields.documents,
      mismatch: 'verification_failed_id_number_match',
    }),
    at: {
      ...(reference && { reference }),
      number: field(type === undefined ? 'given_name' : `id_numbers.${type}`),
      address: field('address.line1'),
      birth: field('date_of_birth'),
      other: field('given_name'),
    },
  };
  return [target, ...documents];
}

/**
 * Whether a person's data is complete. An id number is required only if onboarding requires one.
 */
function isPersonComplete(context: RequirementsContext, { id, fields }: StoredPerson): boolean {
  const country = fields.address?.country ?? context.country;
  const hasAddress = addressMembers(country).every((member) => fields.address?.[member]);
  if (!fields.given_name || !fields.surname || !fields.date_of_birth || !hasAddress) return false;
  const isAsked =
    id === context.account.individualId ||
    (fields.relationship?.representative === true && context.country === 'US');
  const types = isAsked ? personNumberTypes(context.country) : [];
  return types.length === 0 || hasType(fields, types);
}

function hasType(fields: PersonFields, types: readonly string[]): boolean {
  return (fields.id_numbers ?? []).some(({ type }) => types.includes(type));
}

function documentTargets(
  documents: Documents | undefined,
  fieldOfDocument: (name: string) => AffectedField,
  reference?: Finding['reference'],
): Target[] {
  return Object.entries(documents ?? {}).flatMap(([name, document]) => {
    const field = fieldOfDocument(name);
    return filesOf(document).map((file): Target => {
      const isFailing = TEST_FILES.get(file) === 'fail';
      return {
        name: `document:${file}`,
        data: file,
        magic: isFailing ? { failed: 'verification_document_failed_test_mode' } : 'success',
        at: {
          ...(reference && { reference }),
          number: field,
          address: field,
          birth: field,
          other: field,
        },
      };
    });
  });
}

const TEST_FILES: ReadonlyMap<string, 'success' | 'fail'> = new Map([
  ['file_identity_document_success', 'success'],
  ['file_address_success', 'success'],
  ['file_identity_document_fail', 'fail'],
  ['file_address_fail', 'fail'],
]);
const KEYED_IDENTITY = '111111112';

function magicOf(options: {
  readonly numbers: readonly IdNumber[];
  readonly line1: string | undefined;
  readonly documents: Documents | undefined;
  readonly mismatch: string;
}): Magic {
  // A valid document also resolves failures of the other data.
  if (fileIds(options.documents).some((file) => TEST_FILES.get(file) === 'success'))
    return 'success';
  const values = options.numbers.map(({ value }) => normaliseIdNumber(value));
  if (values.includes(KEYED_IDENTITY)) return { failed: 'verification_failed_keyed_identity' };
  if (values.includes('111111111') || values.includes('1111')) return { failed: options.mismatch };
  if (options.line1 === 'address_no_match' || options.line1 === 'address_line1_no_match') {
    return { failed: 'verification_failed_address_match' };
  }
  return values.includes('333333333') ? 'pending' : 'success';
}

/**
 * Whether one of the numbers is the magic value that fails even if the other data is incomplete.
 */
function failsAtOnce(numbers: readonly IdNumber[]): boolean {
  return numbers.some(({ value }) => normaliseIdNumber(value) === KEYED_IDENTITY);
}

function fileIds(documents: Documents | undefined): string[] {
  return Object.values(documents ?? {}).flatMap(filesOf);
}

function filesOf(document: Documents[string]): string[] {
  const { front, back } = document?.front_back ?? {};
  return [...(document?.files ?? []), front, back].filter((file) => file !== undefined);
}

/**
 * In test mode, a person born on this date is on the sanctions list. Each such person raises the
 * alert once: the result for `sanctions:<person id>` shows that it was raised.
 */
function checkSanctions(
  context: RequirementsContext,
  verifications: Record<string, Verification>,
): boolean {
  if (context.account.livemode) return false;
  const listed = context.input.persons.filter(({ fields: { date_of_birth: birth } }) => {
    return birth?.year === 1900 && birth.month === 1 && birth.day === 1;
  });
  const known = context.account.verifications;
  for (const { id } of listed) {
    verifications[`sanctions:${id}`] = { status: 'success', checked: '' };
  }
  return listed.some(({ id }) => known[`sanctions:${id}`] === undefined);
}
