import type { StoredAccount } from '../account/account.js';
import { CONFIGURATION_NAMES, type ConfigurationName } from '../account/configuration-name.js';
import { appliedConfigurations, requirementsCollectorOf } from '../account/derived.js';
import type { FutureRequirements, Requirements } from '../account/requirements.js';
import type { ReferenceLists } from '../platform/reference.js';
import type { VendorWord } from '../platform/vendor-word.js';
import type { Include } from '../shape/account-params.js';
import { timestamp } from '../timestamps.js';
import type { AccountView } from './account-view.js';
import type { AppliedFormat } from './applied-format.js';
import { customerObject, merchantObject, recipientObject } from './configuration-object.js';
import { idNumbers, individualObject } from './person-object.js';

export interface WireOptions {
  readonly vendorWord: VendorWord;
  readonly appliedFormat: AppliedFormat;
  readonly lists: ReferenceLists;
}

type Wire = { storer?: unknown; [name: string]: unknown };

/**
 * Returns an account as sent to clients; sections that are not included are null. Source: accounts,
 * sections 8 and 11.
 */
export function accountObject(
  view: AccountView,
  include: ReadonlySet<Include>,
  options: WireOptions,
): Wire {
  const { account } = view;
  const { fields } = account;
  const section = (name: Include, make: () => unknown): unknown =>
    include.has(name) ? make() : null;
  return {
    id: account.id,
    object: 'v2.core.account',
    applied_configurations: appliedConfigurations(account),
    closed: account.isClosed,
    configuration: configurationObject(view, include, options),
    contact_email: fields.contact_email ?? null,
    contact_phone: fields.contact_phone ?? null,
    created: timestamp(account.createdMs),
    dashboard: fields.dashboard ?? null,
    defaults: section('defaults', () => defaultsObject(account, options)),
    display_name: fields.display_name ?? null,
    future_requirements: section('future_requirements', () =>
      options.vendorWord.allToWire(requirementsObject(account.futureRequirements)),
    ),
    identity: section('identity', () => identityObject(view)),
    livemode: account.livemode,
    metadata: fields.metadata ?? {},
    requirements: section('requirements', () =>
      options.vendorWord.allToWire(requirementsObject(account.requirements)),
    ),
  };
}

/** Returns the JSON of an account in lists and in responses without `include`. */
export function accountSummaryJson(account: StoredAccount, options: WireOptions): string {
  return JSON.stringify(accountObject({ account, individual: undefined }, NO_INCLUDE, options));
}

const NO_INCLUDE: ReadonlySet<Include> = new Set();

const CONFIGURATION_OBJECTS = {
  customer: customerObject,
  merchant: merchantObject,
  recipient: recipientObject,
} as const satisfies Record<ConfigurationName, unknown>;

function configurationObject(
  { account, individual }: AccountView,
  include: ReadonlySet<Include>,
  options: WireOptions,
): Wire | null {
  const hasStorer = include.has('configuration.storer');
  const isAsked = CONFIGURATION_NAMES.some((name) => include.has(`configuration.${name}`));
  if (!isAsked && !hasStorer) return null;
  const wire: Wire = {};
  for (const name of CONFIGURATION_NAMES) {
    const applied = account.applied[name];
    if (!include.has(`configuration.${name}`) || applied === undefined) {
      wire[name] = null;
      continue;
    }
    const since = options.appliedFormat === 'boolean' ? applied.isActive : appliedSince(applied);
    const object = CONFIGURATION_OBJECTS[name]({ account, individual }, options.vendorWord);
    wire[name] = { applied: since, ...object };
  }
  if (hasStorer) wire.storer = account.fields.configuration?.storer ?? null;
  return wire;
}

const appliedSince = (applied: { isActive: boolean; sinceMs: number }): string | null =>
  applied.isActive ? timestamp(applied.sinceMs) : null;

function defaultsObject(account: StoredAccount, { lists, vendorWord }: WireOptions): Wire {
  const { defaults = {}, dashboard, identity } = account.fields;
  const country = identity?.country;
  const currency =
    defaults.currency ?? (country === undefined ? undefined : lists.defaultCurrency(country));
  const { fees_collector, losses_collector } = defaults.responsibilities ?? {};
  const collector = requirementsCollectorOf({ dashboard, losses: losses_collector });
  return {
    ...(currency !== undefined && { currency }),
    locales: defaults.locales ?? [],
    ...(defaults.payout_methods && { payout_methods: defaults.payout_methods }),
    ...(defaults.profile && { profile: defaults.profile }),
    responsibilities: {
      ...(fees_collector !== undefined && { fees_collector: vendorWord.toWire(fees_collector) }),
      ...(losses_collector !== undefined && {
        losses_collector: vendorWord.toWire(losses_collector),
      }),
      requirements_collector: vendorWord.toWire(collector),
    },
    ...(defaults.timezone !== undefined && { timezone: defaults.timezone }),
  };
}

function identityObject({ account, individual }: AccountView): Wire {
  const { attestations, business_details, country, entity_type } = account.fields.identity ?? {};
  return {
    ...(attestations && { attestations }),
    ...(business_details && { business_details: businessDetailsObject(business_details) }),
    ...(country !== undefined && { country }),
    ...(entity_type !== undefined && { entity_type }),
    ...(individual && entity_type === 'individual' && { individual: individualObject(individual) }),
  };
}

/** Members of an additional address in the order of the specification. */
const ADDRESS_ORDER = [
  'purpose',
  'country',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'town',
] as const;

type Details = NonNullable<NonNullable<StoredAccount['fields']['identity']>['business_details']>;

function businessDetailsObject(details: Details): Wire {
  const { additional_addresses, id_numbers } = details;
  return {
    ...details,
    ...(additional_addresses && {
      additional_addresses: additional_addresses.map((address) =>
        Object.fromEntries(
          ADDRESS_ORDER.filter((name) => address[name] !== undefined).map((name) => [
            name,
            address[name],
          ]),
        ),
      ),
    }),
    ...(id_numbers && { id_numbers: idNumbers(id_numbers) }),
  };
}

function requirementsObject(requirements: Requirements | FutureRequirements): Wire {
  const { collector, entries, alternatives, summary } = requirements;
  const transition =
    'minimum_transition_date' in requirements ? requirements.minimum_transition_date : undefined;
  return {
    collector,
    entries,
    alternatives,
    ...(transition !== undefined && { minimum_transition_date: transition }),
    ...(summary && { summary }),
  };
}
