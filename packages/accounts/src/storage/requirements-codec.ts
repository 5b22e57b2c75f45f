import type { ConfigurationName } from '../model/configuration-name.js';
import type {
  DeadlineStatus,
  FutureRequirements,
  RequirementEntry,
  RequirementReference,
  Requirements,
} from '../model/requirements.js';

/**
 * An entry without the names of its members: most of what an account takes is what it still has to say, and all entries
 * are alike. The end is left out as far as it says nothing. See docs/formats/accounts.md.
 */
type PackedEntry = readonly [
  id: string,
  awaits: RequirementEntry['awaiting_action_from'],
  description: string,
  status: DeadlineStatus,
  reasons: readonly RequirementEntry['requested_reasons'][number]['code'][],
  restricts: readonly (readonly [
    configuration: ConfigurationName,
    capability: string,
    status: DeadlineStatus,
  ])[],
  errors?: RequirementEntry['errors'],
  reference?: RequirementReference,
];

type Packed<T extends Requirements> = Omit<T, 'entries'> & {
  readonly entries: readonly PackedEntry[];
};
export type PackedRequirements = Packed<Requirements>;
export type PackedFutureRequirements = Packed<FutureRequirements>;

export function packRequirements<T extends Requirements>(requirements: T): Packed<T> {
  return { ...requirements, entries: requirements.entries.map(packEntry) };
}

export function unpackRequirements<T extends Requirements>(packed: Packed<T>): T {
  const entries = packed.entries.map(unpackEntry);
  // The collector stands before the entries, as on the wire.
  const { collector, ...others } = packed;
  return { collector, ...others, entries } as unknown as T; // the packed form of a T with its entries unpacked
}

function packEntry(entry: RequirementEntry): PackedEntry {
  const { id, awaiting_action_from, description, errors, impact, reference } = entry;
  const packed = [
    id,
    awaiting_action_from,
    description,
    entry.minimum_deadline.status,
    entry.requested_reasons.map(({ code }) => code),
    impact.restricts_capabilities.map(
      ({ capability, configuration, deadline }) =>
        [configuration, capability, deadline.status] as const,
    ),
  ] as const;
  if (reference !== undefined) return [...packed, errors, reference];
  return errors.length > 0 ? [...packed, errors] : packed;
}

function unpackEntry([
  id,
  awaits,
  description,
  status,
  reasons,
  restricts,
  errors = [],
  reference,
]: PackedEntry): RequirementEntry {
  return {
    id,
    awaiting_action_from: awaits,
    description,
    errors,
    impact: {
      restricts_capabilities: restricts.map(([configuration, capability, restricted]) => ({
        capability,
        configuration,
        deadline: { status: restricted },
      })),
    },
    minimum_deadline: { status },
    ...(reference && { reference }),
    requested_reasons: reasons.map((code) => ({ code })),
  };
}
