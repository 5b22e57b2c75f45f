import { invariant } from '@plinth/kernel';
import type { ConfigurationName } from '../model/account/configuration-name.js';
import type {
  DeadlineStatus,
  FutureRequirements,
  RequirementEntry,
  RequirementReference,
  Requirements,
} from '../model/account/requirements.js';

/**
 * An entry without member names, because entries make up most of a stored account and are all
 * alike. Trailing empty members are omitted. See docs/formats/accounts.md.
 */
type PackedEntry = readonly [
  id: string,
  awaits: RequirementEntry['awaiting_action_from'],
  description: string,
  status: DeadlineStatus,
  reasons: readonly RequirementEntry['requested_reasons'][number]['code'][],
  /** The restrictions or their index in `restrictions`; most entries share the same ones. */
  restricts: Restrictions | number,
  errors?: RequirementEntry['errors'],
  reference?: RequirementReference,
];
type Restrictions = readonly (readonly [
  configuration: ConfigurationName,
  capability: string,
  status: DeadlineStatus,
])[];

type Packed<T extends Requirements> = Omit<T, 'entries'> & {
  readonly entries: readonly PackedEntry[];
  /** Absent in layout 2, where each entry has its own copy. */
  readonly restrictions?: readonly Restrictions[];
};
export type PackedRequirements = Packed<Requirements>;
export type PackedFutureRequirements = Packed<FutureRequirements>;

export function packRequirements<T extends Requirements>(requirements: T): Packed<T> {
  /** Keyed by list identity, which entries of one evaluation share, and by content. */
  const places = new Map<unknown, number>();
  const restrictions: Restrictions[] = [];
  const entries = requirements.entries.map((entry) => {
    const { restricts_capabilities } = entry.impact;
    const known = places.get(restricts_capabilities);
    if (known !== undefined) return packEntry(entry, known);
    let key = '';
    for (const { capability, configuration, deadline } of restricts_capabilities) {
      key += `${configuration} ${capability} ${deadline.status},`;
    }
    let place = places.get(key);
    if (place === undefined) {
      place = restrictions.length;
      places.set(key, place);
      restrictions.push(
        restricts_capabilities.map(
          ({ capability, configuration, deadline }) =>
            [configuration, capability, deadline.status] as const,
        ),
      );
    }
    places.set(restricts_capabilities, place);
    return packEntry(entry, place);
  });
  return restrictions.length === 0
    ? { ...requirements, entries }
    : { ...requirements, entries, restrictions };
}

export function unpackRequirements<T extends Requirements>(packed: Packed<T>): T {
  // The collector precedes the entries, as on the wire.
  const { collector, restrictions = [], ...others } = packed;
  const entries = packed.entries.map((entry) => unpackEntry(entry, restrictions));
  return { collector, ...others, entries } as unknown as T; // this object is the packed form of T
}

function packEntry(entry: RequirementEntry, restricts: number): PackedEntry {
  const { id, awaiting_action_from, description, errors, reference } = entry;
  const packed = [
    id,
    awaiting_action_from,
    description,
    entry.minimum_deadline.status,
    entry.requested_reasons.map(({ code }) => code),
    restricts,
  ] as const;
  if (reference !== undefined) return [...packed, errors, reference];
  return errors.length > 0 ? [...packed, errors] : packed;
}

function unpackEntry(
  [id, awaits, description, status, reasons, restricts, errors = [], reference]: PackedEntry,
  restrictions: readonly Restrictions[],
): RequirementEntry {
  const restricted = typeof restricts === 'number' ? restrictions[restricts] : restricts;
  invariant(restricted !== undefined, 'a stored requirement refers to an unknown restriction');
  return {
    id,
    awaiting_action_from: awaits,
    description,
    errors,
    impact: {
      restricts_capabilities: restricted.map(([configuration, capability, deadline]) => ({
        capability,
        configuration,
        deadline: { status: deadline },
      })),
    },
    minimum_deadline: { status },
    ...(reference && { reference }),
    requested_reasons: reasons.map((code) => ({ code })),
  };
}
