import { type Clock, isObject } from '@plinth/kernel';
import type { Documents } from '../../model/account/parts.js';
import type {
  RegisteredFile,
  RegisteredInvoiceTemplate,
  RegisteredPaymentMethod,
  TestClock,
} from '../../model/platform/registered-object.js';
import type { Tenant } from '../../model/platform/tenant.js';
import type {
  Facts,
  FileRecord,
  PaymentMethodRecord,
  TestClockRecord,
} from '../../model/rule-input.js';
import type { AccountStore } from '../../storage/account-store.js';
import type { RegisteredObjectStore } from '../../storage/registered-object-store.js';

/** References in a request to objects that may not exist. */
export interface References {
  readonly fileIds: readonly string[];
  readonly paymentMethodIds: readonly string[];
  readonly templateIds: readonly string[];
  readonly clockIds: readonly string[];
  readonly invoicePrefix: string | undefined;
}

/** Test-mode files that are valid for every purpose. Source: accounts, section 16.5. */
const MAGIC_FILES: ReadonlySet<string> = new Set([
  'file_identity_document_success',
  'file_identity_document_fail',
  'file_address_success',
  'file_address_fail',
]);
/** Test-mode payment methods attached to every account. Source: accounts, section 18. */
const MAGIC_PAYMENT_METHODS: ReadonlySet<string> = new Set([
  'pm_card_visa',
  'pm_card_mastercard',
  'pm_card_amex',
]);

/** Purpose of a file that is valid everywhere. */
export const ANY_PURPOSE = '*';

/** Collects the referenced ids in a request, in request notation. */
export function referencesIn(requestFields: unknown): References {
  const identity = at(requestFields, 'identity');
  const customer = at(requestFields, 'configuration', 'customer');
  const branding = at(requestFields, 'configuration', 'merchant', 'branding');
  const invoice = at(customer, 'billing', 'invoice');
  return {
    fileIds: [
      ...filesIn(at(identity, 'business_details', 'documents')),
      ...filesIn(at(identity, 'individual', 'documents')),
      ...filesIn(at(requestFields, 'documents')),
      ...texts(at(branding, 'icon'), at(branding, 'logo')),
    ],
    paymentMethodIds: texts(at(customer, 'billing', 'default_payment_method')),
    templateIds: texts(at(invoice, 'rendering', 'template')),
    clockIds: texts(at(customer, 'test_clock')),
    invoicePrefix: texts(at(invoice, 'prefix'))[0],
  };
}

function filesIn(documents: unknown): string[] {
  if (!isObject(documents)) return [];
  return Object.values(documents as Documents).flatMap((document) => {
    const files = at(document, 'files');
    const listed = Array.isArray(files) ? texts(...files) : [];
    const sides = at(document, 'front_back');
    return [...listed, ...texts(at(sides, 'front'), at(sides, 'back'))];
  });
}

const texts = (...values: readonly unknown[]): string[] =>
  values.filter((value): value is string => typeof value === 'string' && value !== '');

function at(value: unknown, ...path: readonly string[]): unknown {
  let inner = value;
  for (const name of path) {
    if (!isObject(inner) || !Object.hasOwn(inner, name)) return undefined;
    inner = inner[name];
  }
  return inner;
}

interface FactFinderDeps {
  readonly accounts: AccountStore;
  readonly registeredObjects: RegisteredObjectStore;
  readonly clock: Clock;
}

/** Loads the objects that a request refers to, so that rules do not need look-ups. */
export class FactFinder {
  readonly #deps: FactFinderDeps;

  constructor(deps: FactFinderDeps) {
    this.#deps = deps;
  }

  async find(
    tenant: Tenant,
    references: References,
    options: { readonly accountId: string; readonly countsOpenAccounts: boolean },
  ): Promise<Facts> {
    const { accounts } = this.#deps;
    const [files, paymentMethods, invoiceTemplateIds, testClocks, isTaken, openAccountCount] =
      await Promise.all([
        this.#files(tenant, references.fileIds),
        this.#paymentMethods(tenant, references.paymentMethodIds),
        this.#templates(tenant, references.templateIds),
        this.#clocks(tenant, references.clockIds, options.accountId),
        references.invoicePrefix === undefined
          ? false
          : accounts.isInvoicePrefixTaken(tenant, references.invoicePrefix, options.accountId),
        options.countsOpenAccounts ? accounts.countOpen(tenant) : 0,
      ]);
    return {
      files,
      paymentMethods,
      invoiceTemplateIds,
      testClocks,
      isInvoicePrefixTaken: isTaken,
      openAccountCount,
    };
  }

  async #files(tenant: Tenant, ids: readonly string[]): Promise<Map<string, FileRecord>> {
    const stored = await this.#deps.registeredObjects.findAll<RegisteredFile>(tenant, 'file', ids);
    const records = stored.map(
      ({ id, purpose, account, deleted }): FileRecord => ({
        id,
        purpose,
        ...(account !== undefined && { accountId: account }),
        isDeleted: deleted,
      }),
    );
    const magic = tenant.livemode ? [] : ids.filter((id) => MAGIC_FILES.has(id));
    const predefined = magic.map(
      (id): FileRecord => ({ id, purpose: ANY_PURPOSE, isDeleted: false }),
    );
    return new Map([...records, ...predefined].map((record) => [record.id, record]));
  }

  async #paymentMethods(
    tenant: Tenant,
    ids: readonly string[],
  ): Promise<Map<string, PaymentMethodRecord>> {
    const stored = await this.#deps.registeredObjects.findAll<RegisteredPaymentMethod>(
      tenant,
      'payment_method',
      ids,
    );
    const records = stored.map(
      ({ id, type, account, detached }): PaymentMethodRecord => ({
        id,
        type,
        ...(account !== undefined && { accountId: account }),
        isDetached: detached,
      }),
    );
    const magic = tenant.livemode ? [] : ids.filter((id) => MAGIC_PAYMENT_METHODS.has(id));
    const predefined = magic.map(
      (id): PaymentMethodRecord => ({ id, type: 'card', accountId: '*', isDetached: false }),
    );
    return new Map([...records, ...predefined].map((record) => [record.id, record]));
  }

  async #templates(tenant: Tenant, ids: readonly string[]): Promise<Set<string>> {
    const stored = await this.#deps.registeredObjects.findAll<RegisteredInvoiceTemplate>(
      tenant,
      'invoice_template',
      ids,
    );
    return new Set(stored.filter(({ archived }) => !archived).map(({ id }) => id));
  }

  async #clocks(
    tenant: Tenant,
    ids: readonly string[],
    accountId: string,
  ): Promise<Map<string, TestClockRecord>> {
    const { registeredObjects, accounts, clock } = this.#deps;
    const stored = await registeredObjects.findAll<TestClock>(tenant, 'test_clock', ids);
    const records = stored.map(async ({ id, advancesUntilMs }): Promise<TestClockRecord> => {
      const others = (await accounts.listOnClock(id)).filter((other) => other !== accountId);
      const status = advancesUntilMs > clock.nowMs() ? 'advancing' : 'ready';
      return { id, status, openAccountCount: others.length };
    });
    return new Map((await Promise.all(records)).map((record) => [record.id, record]));
  }
}
