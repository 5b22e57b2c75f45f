import type { CustomerFields, StoredAccount } from '../account/account.js';
import type { ConfigurationName } from '../account/configuration-name.js';
import type { CapabilityStatus } from '../account/requirements.js';
import type { VendorWord } from '../platform/vendor-word.js';
import type { AccountView } from './account-view.js';

type Wire = Record<string, unknown>;

/** Returns a customer configuration as sent to clients. Source: accounts, section 8.2. */
export function customerObject({ account, individual }: AccountView, vendorWord: VendorWord): Wire {
  const { customer = {} } = account.fields.configuration ?? {};
  const { automatic_indirect_tax: tax = {}, billing = {}, shipping, test_clock } = customer;
  const {
    custom_fields = [],
    footer,
    next_sequence = 1,
    prefix,
    rendering,
  } = billing.invoice ?? {};
  const location = taxLocation({ account, individual }, customer);
  return {
    automatic_indirect_tax: {
      exempt: tax.exempt ?? 'none',
      ...(tax.ip_address !== undefined && { ip_address: tax.ip_address }),
      ...(location && { location }),
      location_source: tax.location_source ?? 'identity_address',
    },
    billing: {
      ...(billing.default_payment_method !== undefined && {
        default_payment_method: billing.default_payment_method,
      }),
      invoice: {
        custom_fields,
        ...(footer !== undefined && { footer }),
        next_sequence,
        ...(prefix !== undefined && { prefix }),
        ...(rendering && { rendering }),
      },
    },
    ...capabilitiesOf(account, 'customer', vendorWord),
    ...(shipping && { shipping }),
    ...(test_clock !== undefined && { test_clock }),
  };
}

/**
 * Returns the tax location if the capability is requested and active and the location source has a
 * country.
 */
function taxLocation(
  { account, individual }: AccountView,
  customer: CustomerFields,
): { country: string; state?: string } | undefined {
  const status = account.capabilities['customer.automatic_indirect_tax']?.status;
  if (status !== 'active') return undefined;
  const source = customer.automatic_indirect_tax?.location_source ?? 'identity_address';
  if (source === 'shipping_address') return placeOf(customer.shipping?.address);
  if (source !== 'identity_address') return undefined;
  const { identity } = account.fields;
  const address = identity?.business_details?.address ?? individual?.fields.address;
  return placeOf(address) ?? placeOf({ country: identity?.country });
}

function placeOf(
  address: { readonly country?: string | undefined; readonly state?: string } | undefined,
): { country: string; state?: string } | undefined {
  if (address?.country === undefined) return undefined;
  const { country, state } = address;
  return { country, ...(state !== undefined && { state }) };
}

/** Returns a merchant configuration as sent to clients. Source: accounts, section 8.3. */
export function merchantObject({ account }: AccountView, vendorWord: VendorWord): Wire {
  const {
    capabilities: _,
    card_payments,
    ...settings
  } = account.fields.configuration?.merchant ?? {};
  const { avs_failure = false, cvc_failure = false } = card_payments?.decline_on ?? {};
  const wire: Wire = {
    ...settings,
    ...capabilitiesOf(account, 'merchant', vendorWord),
    card_payments: { decline_on: { avs_failure, cvc_failure } },
  };
  return Object.fromEntries(Object.entries(wire).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a recipient configuration as sent to clients. Source: accounts, section 8.4. */
export function recipientObject({ account }: AccountView, vendorWord: VendorWord): Wire {
  const { default_outbound_destination } = account.fields.configuration?.recipient ?? {};
  return {
    ...capabilitiesOf(account, 'recipient', vendorWord),
    ...(default_outbound_destination !== undefined && { default_outbound_destination }),
  };
}

/** Statuses as a tree; omitted if there are none. */
function capabilitiesOf(
  account: StoredAccount,
  configuration: ConfigurationName,
  vendorWord: VendorWord,
): { capabilities?: Wire } {
  const prefix = `${configuration}.`;
  const tree: Wire = {};
  for (const [key, status] of Object.entries(account.capabilities)) {
    if (key.startsWith(prefix)) putAt(tree, key.slice(prefix.length).split('.'), status);
  }
  if (Object.keys(tree).length === 0) return {};
  return { capabilities: vendorWord.allToWire(tree) as Wire }; // `allToWire` returns an object for an object
}

function putAt(tree: Wire, path: readonly string[], status: CapabilityStatus): void {
  const [first = '', ...rest] = path;
  if (rest.length === 0) {
    tree[first] = status;
    return;
  }
  const inner = (tree[first] ?? {}) as Wire; // only this function sets the members
  tree[first] = inner;
  putAt(inner, rest, status);
}
