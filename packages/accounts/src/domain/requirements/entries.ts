import type {
  DeadlineStatus,
  OperatorRequirement,
  RequirementAlternative,
  RequirementEntry,
} from '../../model/account/requirements.js';
import { dueMsOf, nextChangeMs, statusAt, strictest } from './deadlines.js';
import { type Capability, type Finding, keyOf, type MissingField } from './missing-field.js';
import type { RequirementsContext } from './requirements-context.js';

/** An entry with timestamps that are not sent to clients. */
export interface DatedEntry {
  readonly entry: RequirementEntry;
  /** Time at which the entry becomes past due; `undefined` if it is already past due or has no deadline. */
  readonly dueMs: number | undefined;
  readonly nextChangeMs: number | undefined;
  readonly alternative: RequirementAlternative | undefined;
}

/** Messages for failed verifications. */
const ERROR_TEXTS: Readonly<Record<string, string>> = {
  verification_failed_id_number_match: 'The number does not match the name and the date of birth.',
  verification_failed_tax_id_match: 'The number does not match the registered name.',
  verification_failed_keyed_identity: 'The person could not be found with these details.',
  verification_failed_address_match: 'The address does not match the other details.',
  verification_document_failed_test_mode: 'This file simulates a document that fails in test mode.',
  verification_document_fraudulent: 'The document may have been altered.',
  verification_document_not_uploaded: 'The document was not uploaded.',
};

type Shared = 'reference' | 'description';
type Restriction = RequirementEntry['impact']['restricts_capabilities'][number];

/**
 * Returns the entries for missing fields, each field once, in the order of the table in section
 * 16.2 of the specification.
 */
export function entriesOfMissingFields(
  context: RequirementsContext,
  missingFields: readonly MissingField[],
): DatedEntry[] {
  const known = new Map<MissingField['restricts'], Deadlines>();
  return merge(missingFields).map((missingField) => {
    let deadlines = missingField.extraGraceCount ? undefined : known.get(missingField.restricts);
    if (deadlines === undefined) {
      deadlines = deadlinesOf(context, missingField);
      if (!missingField.extraGraceCount) known.set(missingField.restricts, deadlines);
    }
    return entryOfMissingField(context, missingField, deadlines);
  });
}

/** Deadlines for a capability list, shared by all fields that restrict the same capabilities. */
interface Deadlines {
  readonly restricts: readonly Restriction[];
  readonly soonestMs: number | undefined;
  readonly changeMs: number | undefined;
}

function deadlinesOf(context: RequirementsContext, missingField: MissingField): Deadlines {
  const { nowMs } = context.input;
  const restricts: Restriction[] = [];
  let soonestMs: number | undefined;
  let changeMs: number | undefined;
  for (const capability of missingField.restricts) {
    const dueMs = dueMsOf(context, missingField, capability);
    restricts.push(restriction(capability, statusAt(dueMs, nowMs)));
    if (dueMs <= nowMs) continue;
    soonestMs = Math.min(soonestMs ?? dueMs, dueMs);
    const nextMs = nextChangeMs(dueMs, nowMs);
    changeMs = Math.min(changeMs ?? nextMs, nextMs);
  }
  return { restricts, soonestMs, changeMs };
}

function entryOfMissingField(
  context: RequirementsContext,
  missingField: MissingField,
  { restricts, soonestMs, changeMs }: Deadlines,
): DatedEntry {
  const entry = makeEntry(context, missingField, { restricts, reason: 'routine_onboarding' });
  return {
    entry,
    dueMs: soonestMs,
    nextChangeMs: changeMs,
    alternative: alternativeOf(missingField, entry),
  };
}

/** Returns the entries for failed or pending data. A failure is past due immediately. */
export function entriesOfFindings(
  context: RequirementsContext,
  findings: readonly Finding[],
): DatedEntry[] {
  return findings
    .filter(({ restricts }) => restricts.length > 0)
    .map((finding) => {
      const isFailed = finding.status === 'failed';
      const code = finding.code ?? 'verification_failed_other';
      const text = ERROR_TEXTS[code] ?? 'The details could not be verified.';
      const entry = makeEntry(context, finding, {
        restricts: finding.restricts.map((capability) =>
          restriction(capability, isFailed ? 'past_due' : 'currently_due'),
        ),
        reason: 'routine_verification',
        awaits: isFailed ? 'user' : 'vendor',
        errors: isFailed ? [{ code, description: text }] : [],
      });
      return { entry, dueMs: undefined, nextChangeMs: undefined, alternative: undefined };
    });
}

/** Converts an entry added by the operator. */
export function entryOfOperatorRequirement(requirement: OperatorRequirement): DatedEntry {
  const { restricts } = requirement;
  return {
    entry: {
      id: requirement.id,
      awaiting_action_from: requirement.awaiting_action_from,
      description: requirement.description,
      errors: requirement.errors ?? [],
      impact: {
        restricts_capabilities: restricts.map(({ configuration, capability, status }) =>
          restriction({ configuration, id: capability }, status),
        ),
      },
      minimum_deadline: { status: strictest(restricts.map(({ status }) => status)) },
      ...(requirement.reference && { reference: requirement.reference }),
      requested_reasons: [{ code: 'routine_onboarding' }],
    },
    dueMs: undefined,
    nextChangeMs: undefined,
    alternative: undefined,
  };
}

const restriction = ({ configuration, id }: Capability, status: DeadlineStatus): Restriction => ({
  capability: id,
  configuration,
  deadline: { status },
});

function makeEntry(
  context: RequirementsContext,
  options: Pick<MissingField, Shared>,
  params: {
    readonly restricts: readonly Restriction[];
    readonly reason: 'routine_onboarding' | 'routine_verification';
    readonly awaits?: 'user' | 'vendor';
    readonly errors?: RequirementEntry['errors'];
  },
): RequirementEntry {
  return {
    id: context.entryIds.get(keyOf(options)) ?? context.input.newEntryId(),
    awaiting_action_from: params.awaits ?? 'user',
    description: options.description,
    errors: params.errors ?? [],
    impact: { restricts_capabilities: params.restricts },
    minimum_deadline: {
      status: strictest(params.restricts.map(({ deadline }) => deadline.status)),
    },
    ...(options.reference && { reference: options.reference }),
    requested_reasons: [{ code: params.reason }],
  };
}

/** Merges missing fields with the same description and person. */
function merge(missingFields: readonly MissingField[]): MissingField[] {
  const byKey = new Map<string, MissingField>();
  for (const missingField of missingFields) {
    const key = keyOf(missingField);
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? missingField : joined(known, missingField));
  }
  return [...byKey.values()].filter(({ restricts }) => restricts.length > 0);
}

function joined(known: MissingField, missingField: MissingField): MissingField {
  const more = missingField.restricts.filter(
    (one) =>
      !known.restricts.some(
        (other) => other.configuration === one.configuration && other.id === one.id,
      ),
  );
  return { ...known, restricts: [...known.restricts, ...more] };
}

function alternativeOf(
  missingField: MissingField,
  entry: RequirementEntry,
): RequirementAlternative | undefined {
  if (missingField.alternative === undefined) return undefined;
  const { description, reference, awaiting_action_from } = entry;
  const at = reference === undefined ? {} : { reference };
  return {
    options: [
      {
        entries: [
          { awaiting_action_from, description: missingField.alternative, errors: [], ...at },
        ],
      },
    ],
    original_entries: [{ description, ...at }],
  };
}
