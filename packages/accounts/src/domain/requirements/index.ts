import type { EngineInput, EngineResult } from '../../model/account/derive-requirements.js';
import type {
  CapabilityStatus,
  FutureRequirements,
  OperatorRequirement,
  RequirementEntry,
  Requirements,
} from '../../model/account/requirements.js';
import { earliest, strictest } from './deadlines.js';
import {
  type DatedEntry,
  entriesOfFindings,
  entriesOfMissingFields,
  entryOfOperatorRequirement,
} from './entries.js';
import {
  missingAgreements,
  missingBasicFields,
  missingMerchantFields,
  missingOrganisationFields,
  missingOwnershipFields,
  missingTaxFields,
} from './missing-business-fields.js';
import type { MissingField } from './missing-field.js';
import {
  hasNamedOwner,
  missingIndividualFields,
  missingOfficerFields,
  missingRepresentativeFields,
} from './missing-person-fields.js';
import { type RequirementsContext, requirementsContextOf } from './requirements-context.js';
import { statusOf } from './statuses.js';
import { verify } from './verification.js';

/**
 * Derives the outstanding requirements, verifications and capability statuses of an open account.
 * Does not read the clock, generate ids or change its input. Source: accounts, section 16.
 */
export function deriveRequirements(input: EngineInput): EngineResult {
  const context = requirementsContextOf(input);
  const { account, nowMs } = input;
  const { verifications, findings, isListed } = verify(context);
  const reject = account.overrides.reject ?? (isListed ? { reason: 'listed' } : null);
  const operatorRequirements = account.operatorRequirements.map((one) => transitioned(one, nowMs));
  const dated = [
    ...entriesOfMissingFields(context, missingFieldsOf(context)),
    ...entriesOfFindings(context, findings),
    ...operatorRequirements.filter(({ future }) => !future).map(entryOfOperatorRequirement),
  ];
  const future = operatorRequirements.filter((one) => one.future === true);
  const entries = dated.map(({ entry }) => entry);
  const capabilities = statusesOf(context, { entries, rejection: reject?.reason });
  return {
    requirements: requirementsOf(context, dated),
    futureRequirements: futureOf(context, future),
    capabilities,
    everActive: everActiveAfter(account.everActive, capabilities),
    verifications,
    operatorRequirements,
    reject,
    nextEvaluationMs: earliest([
      ...dated.map(({ nextChangeMs }) => nextChangeMs),
      ...future.map(transitionMs),
    ]),
  };
}

/** Collects the missing fields in the order of section 16.2. */
function missingFieldsOf(context: RequirementsContext): MissingField[] {
  const isBusiness = context.applied.has('merchant') || context.applied.has('recipient');
  const onceRequested = context.hasRequest
    ? [
        ...missingOrganisationFields(context),
        ...missingMerchantFields(context),
        ...missingIndividualFields(context),
        ...missingRepresentativeFields(context),
        ...missingOwnershipFields(context, hasNamedOwner(context.persons)),
        ...missingOfficerFields(context),
        ...missingAgreements(context),
      ]
    : [];
  return [
    ...(isBusiness ? [...missingBasicFields(context), ...onceRequested] : []),
    ...missingTaxFields(context),
  ];
}

function statusesOf(
  context: RequirementsContext,
  evaluation: {
    readonly entries: readonly RequirementEntry[];
    readonly rejection: string | undefined;
  },
): Record<string, CapabilityStatus> {
  return Object.fromEntries(
    context.capabilities.map((capability) => [
      `${capability.configuration}.${capability.id}`,
      statusOf(context, capability, evaluation),
    ]),
  );
}

function everActiveAfter(
  before: readonly string[],
  capabilities: Readonly<Record<string, CapabilityStatus>>,
): readonly string[] {
  const fresh = Object.entries(capabilities)
    .filter(([name, { status }]) => status === 'active' && !before.includes(name))
    .map(([name]) => name);
  return fresh.length === 0 ? before : [...before, ...fresh];
}

function requirementsOf(context: RequirementsContext, dated: readonly DatedEntry[]): Requirements {
  const alternatives = dated.map(({ alternative }) => alternative);
  const status = strictest(dated.map(({ entry }) => entry.minimum_deadline.status));
  const dueMs = status === 'past_due' ? undefined : earliest(dated.map((one) => one.dueMs));
  return {
    collector: context.collector,
    entries: dated.map(({ entry }) => entry),
    alternatives: alternatives.filter((alternative) => alternative !== undefined),
    ...(dated.length > 0 && {
      summary: {
        minimum_deadline: {
          status,
          ...(dueMs !== undefined && { time: new Date(dueMs).toISOString() }),
        },
      },
    }),
  };
}

function futureOf(
  context: RequirementsContext,
  future: readonly OperatorRequirement[],
): FutureRequirements {
  const transition = earliest(future.map(transitionMs));
  return {
    ...requirementsOf(context, future.map(entryOfOperatorRequirement)),
    ...(transition !== undefined && {
      minimum_transition_date: new Date(transition).toISOString(),
    }),
  };
}

/** Converts a future entry whose transition has passed into a current one. */
function transitioned(requirement: OperatorRequirement, nowMs: number): OperatorRequirement {
  const atMs = transitionMs(requirement);
  if (!requirement.future || atMs === undefined || atMs > nowMs) return requirement;
  const { future: _future, transition: _transition, ...present } = requirement;
  return present;
}

function transitionMs({ transition }: OperatorRequirement): number | undefined {
  return transition === undefined ? undefined : Date.parse(transition);
}
