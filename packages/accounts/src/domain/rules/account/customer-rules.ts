import type { AccountFields } from '../../../model/account/account.js';
import type { Violation } from '../../../model/violation.js';
import { canBeDefaultPaymentMethod } from '../../reference/small-tables.js';
import { hasAnyMember } from '../fields/address-rules.js';
import { firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';
import { checkSettings } from './setting-rules.js';

const BLOCK = 'configuration.customer';
const MAX_ACCOUNTS_PER_CLOCK = 3;

/** Checks the customer configuration (step 15). */
export function checkCustomer(context: AccountContext): Violation | undefined {
  if (!context.requestFields.configuration?.customer) return undefined;
  return firstViolation(
    [
      (account) => checkSettings(account, 'customer'),
      checkPaymentMethod,
      checkInvoiceTemplate,
      checkShipping,
      checkTestClock,
      checkTaxLocation,
    ],
    context,
  );
}

/**
 * The default payment method must exist, have an allowed type and be attached to this account (rows
 * 44 and 45).
 */
function checkPaymentMethod(context: AccountContext): Violation | undefined {
  const id = context.requestFields.configuration?.customer?.billing?.default_payment_method;
  if (!id) return undefined;
  const param = `${BLOCK}.billing.default_payment_method`;
  const method = context.facts.paymentMethods.get(id);
  const isForeign = method?.accountId !== '*' && method?.accountId !== context.merged.id;
  const isOfAnother = isForeign && method?.accountId !== undefined;
  if (!method || method.isDetached || (context.isCreate && isOfAnother)) {
    return violate('default_payment_method_invalid', {
      param,
      message: `${param} is not a payment method of this platform: ${quote(id)}.`,
    });
  }
  if (!canBeDefaultPaymentMethod(method.type)) {
    return violate('default_payment_method_invalid_type', {
      param,
      message: `${param} has the type ${quote(method.type)}, which cannot be used as a default.`,
    });
  }
  if (context.isCreate || !isForeign) return undefined;
  return violate('attach_payment_method_to_customer', {
    param,
    message: `${param} must be attached to this account first: ${quote(id)}.`,
  });
}

/** The invoice template must exist (row 63). */
function checkInvoiceTemplate(context: AccountContext): Violation | undefined {
  const id = context.requestFields.configuration?.customer?.billing?.invoice?.rendering?.template;
  if (!id || context.facts.invoiceTemplateIds.has(id)) return undefined;
  const param = `${BLOCK}.billing.invoice.rendering.template`;
  return violate('invoice_rendering_template_invalid', {
    param,
    message: `${param} is not an invoice template of this platform: ${quote(id)}.`,
  });
}

/** After the request, shipping must contain a name and an address (rows 79 and 80). */
function checkShipping(context: AccountContext): Violation | undefined {
  if (!context.provided.has(`${BLOCK}.shipping`)) return undefined;
  const shipping = context.fields.configuration?.customer?.shipping;
  if (shipping === undefined || Object.keys(shipping).length === 0) return undefined;
  if (!hasAnyMember(shipping.address)) {
    const param = `${BLOCK}.shipping.address`;
    return violate('shipping_address_required', {
      param,
      message: `${param} is required if shipping has other members.`,
    });
  }
  if (shipping.name) return undefined;
  const param = `${BLOCK}.shipping.name`;
  return violate('shipping_name_required', {
    param,
    message: `${param} is required if shipping has other members.`,
  });
}

/**
 * A test clock must be usable and can only be set with a new customer configuration (rows 83 to
 * 86).
 */
function checkTestClock(context: AccountContext): Violation | undefined {
  const id = context.requestFields.configuration?.customer?.test_clock;
  const param = `${BLOCK}.test_clock`;
  if (!id || id === context.stored?.fields.configuration?.customer?.test_clock) return undefined;
  if (context.livemode) {
    return violate('test_clock_disallowed_on_live_mode', {
      param,
      message: `${param} can be set only in test mode.`,
    });
  }
  const clock = context.facts.testClocks.get(id);
  if (!clock || clock.status === 'internal_failure') {
    return violate('test_clock_invalid', {
      param,
      message: `${param} is not a usable test clock: ${quote(id)}.`,
    });
  }
  if (context.stored?.applied.customer) {
    return violate('test_clock_invalid', {
      param,
      message: `${param} can be set only when the customer configuration is first applied.`,
    });
  }
  if (clock.status === 'advancing') {
    return violate('test_clocks_advance_in_progress', {
      param,
      message: `${param} ${quote(id)} is advancing; retry when it is ready.`,
    });
  }
  if (clock.openAccountCount < MAX_ACCOUNTS_PER_CLOCK) return undefined;
  return violate('test_clocks_customer_limit_reached', {
    param,
    message: `${param} ${quote(id)} already has ${clock.openAccountCount} open accounts; the maximum is ${MAX_ACCOUNTS_PER_CLOCK}.`,
  });
}

/** A tax location can only be validated for an existing customer (sections 8.2 and 14). */
function checkTaxLocation(context: AccountContext): Violation | undefined {
  const validateLocation =
    context.requestFields.configuration?.customer?.automatic_indirect_tax?.validate_location;
  if (!validateLocation) return undefined;
  const param = `${BLOCK}.automatic_indirect_tax.validate_location`;
  if (context.stored?.applied.customer === undefined) {
    return violate('cannot_use_validate_location_on_customer_create', {
      param,
      message: `${param} cannot be sent with the request that applies the customer configuration.`,
    });
  }
  if (validateLocation !== 'immediately') return undefined;
  const source = taxLocationSource(context.fields);
  if (hasTaxLocation(context)) return undefined;
  return violate('customer_invalid_tax_location', {
    param,
    message: `If ${param} is "immediately", ${source} is required.`,
    extra: {
      incorrect_fields: [{ field: source, type: 'missing' }],
      validate_location: 'immediately',
    },
  });
}

function hasTaxLocation(context: AccountContext): boolean {
  const customer = context.fields.configuration?.customer;
  switch (customer?.automatic_indirect_tax?.location_source ?? 'identity_address') {
    case 'identity_address':
      return context.country !== undefined;
    case 'shipping_address':
      return customer?.shipping?.address?.country !== undefined;
    case 'ip_address':
      return customer?.automatic_indirect_tax?.ip_address !== undefined;
    case 'payment_method':
      return customer?.billing?.default_payment_method !== undefined;
  }
}

/** Returns the path of the field with the tax location. */
function taxLocationSource(fields: AccountFields): string {
  const paths = {
    identity_address: 'identity.country',
    shipping_address: `${BLOCK}.shipping.address.country`,
    ip_address: `${BLOCK}.automatic_indirect_tax.ip_address`,
    payment_method: `${BLOCK}.billing.default_payment_method`,
  };
  const customer = fields.configuration?.customer;
  return paths[customer?.automatic_indirect_tax?.location_source ?? 'identity_address'];
}
