import type { EntityType, StoredAccount } from '../../model/account/account.js';
import type { ConfigurationName } from '../../model/account/configuration-name.js';
import type { EngineInput } from '../../model/account/derive-requirements.js';
import {
  appliedConfigurations,
  capabilityRequests,
  requirementsCollectorOf,
} from '../../model/account/derived.js';
import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import type { Collector } from '../../model/platform/platform-settings.js';
import { currencyOf } from '../reference/currencies.js';
import { type Capability, keyOf } from './missing-field.js';

export const PAYOUTS = 'vendor_balance.payouts';
const TRANSFERS = 'vendor_balance.vendor_transfers';

/** An account with the derived values that rows of section 16.2 need. */
export interface RequirementsContext {
  readonly account: StoredAccount;
  readonly input: EngineInput;
  readonly applied: ReadonlySet<ConfigurationName>;
  readonly country: string | undefined;
  /** The chosen currency, or the currency of the country. */
  readonly currency: string | undefined;
  readonly entityType: EntityType | undefined;
  /** Any entity other than an individual. */
  readonly isOrganisation: boolean;
  readonly collector: Collector;
  /** The person of an individual account. */
  readonly individual: PersonFields;
  readonly persons: readonly StoredPerson[];
  /** Requested and automatic capabilities of applied configurations. */
  readonly capabilities: readonly Capability[];
  /**
   * Capabilities that missing data restricts. Each list is created once, because most fields
   * restrict the same capabilities.
   */
  readonly restricts: {
    readonly merchant: readonly Capability[];
    /** Capabilities of merchants and recipients. */
    readonly business: readonly Capability[];
    readonly cards: readonly Capability[];
    readonly payouts: readonly Capability[];
    /** Outgoing payments, restricted by a wrong or missing id number of the account. */
    readonly numbers: readonly Capability[];
    readonly tax: readonly Capability[];
  };
  /** Ids of existing entries by key, which remain stable. */
  readonly entryIds: ReadonlyMap<string, string>;
  /**
   * Whether a merchant or recipient capability was requested; before that, only the basics are
   * required.
   */
  readonly hasRequest: boolean;
}

export function requirementsContextOf(input: EngineInput): RequirementsContext {
  const { account, persons } = input;
  const { fields } = account;
  const entityType = fields.identity?.entity_type;
  const applied = new Set(appliedConfigurations(account));
  const requested = [...applied].flatMap((configuration): Capability[] =>
    capabilityRequests(fields.configuration?.[configuration]?.capabilities)
      .filter((request) => request.requested)
      .map(({ id }) => ({ configuration, id })),
  );
  const capabilities = [...requested, ...automatic(applied, requested)];
  return {
    account,
    input,
    applied,
    country: fields.identity?.country,
    currency: currencyOf(fields),
    entityType,
    isOrganisation: entityType !== undefined && entityType !== 'individual',
    collector: requirementsCollectorOf({
      dashboard: fields.dashboard,
      losses: fields.defaults?.responsibilities?.losses_collector,
    }),
    individual: persons.find(({ id }) => id === account.individualId)?.fields ?? {},
    persons: persons.filter(({ id }) => id !== account.individualId),
    entryIds: new Map(account.requirements.entries.map((entry) => [keyOf(entry), entry.id])),
    capabilities,
    restricts: restrictsOf(capabilities),
    hasRequest: requested.some(({ configuration }) => configuration !== 'customer'),
  };
}

/** Payouts are automatic for every merchant, and for recipients with transfers. */
function automatic(
  applied: ReadonlySet<ConfigurationName>,
  requested: readonly Capability[],
): Capability[] {
  const hasTransfers = requested.some(
    ({ configuration, id }) => configuration === 'recipient' && id === TRANSFERS,
  );
  const found: Capability[] = [];
  if (applied.has('merchant')) found.push({ configuration: 'merchant', id: PAYOUTS });
  if (hasTransfers) found.push({ configuration: 'recipient', id: PAYOUTS });
  return found;
}

function restrictsOf(capabilities: readonly Capability[]): RequirementsContext['restricts'] {
  const merchant = capabilities.filter(({ configuration }) => configuration === 'merchant');
  const recipient = capabilities.filter(({ configuration }) => configuration === 'recipient');
  const payouts = merchant.filter(({ id }) => id === PAYOUTS);
  return {
    merchant,
    business: capabilities.filter(({ configuration }) => configuration !== 'customer'),
    cards: merchant.filter(({ id }) => id === 'card_payments'),
    payouts,
    numbers: [...payouts, ...recipient],
    tax: capabilities.filter(({ id }) => id === 'automatic_indirect_tax'),
  };
}
