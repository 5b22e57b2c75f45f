import { type Clock, type Random, randomLetters } from '@plinth/kernel';
import { NO_OVERRIDES, type StoredAccount } from '../../model/account/account.js';
import type { ConfigurationName } from '../../model/account/configuration-name.js';
import type { StoredPerson } from '../../model/account/person.js';
import { ProvidedFields } from '../../model/account/provided-fields.js';
import { IdGenerator } from '../../model/ids.js';
import { createConcurrencyLimit } from '../../model/platform/platform-settings.js';
import type { RegisteredFile } from '../../model/platform/registered-object.js';
import type { Rules } from '../../model/rule-input.js';
import type { Include } from '../../model/shape/account-params.js';
import { refuse } from '../../model/violation.js';
import { accountObject, type WireOptions } from '../../model/wire/account-object.js';
import { readsBooleansOnly } from '../../model/wire/applied-format.js';
import type { AccountStore, Aggregate } from '../../storage/account-store.js';
import type { WriteSet } from '../../storage/commit-queue.js';
import type { Encryptor } from '../../storage/encryptor.js';
import type { RegisteredObjectStore } from '../../storage/registered-object-store.js';
import type { AccountWriter, FinishedChange } from '../change/account-writer.js';
import { type FactFinder, referencesIn } from '../change/facts.js';
import { type AccountRequestFields, mergeAccount } from '../change/merge-account.js';
import type { MutationOutcome, MutationResponse, Mutations } from '../change/mutations.js';
import { normalisePhone } from '../change/phone-format.js';
import { invalidFields, notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';
import { unmetOperatorRequirements } from '../requirements/operator-requirements.js';
import type { AccountAccess } from './account-access.js';
import { type ListRequest, readPage, toPage } from './account-pages.js';
import { accountTag, refuseChanged } from './entity-tags.js';
import type { Tokens, TokenUse } from './tokens.js';

export interface AccountsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: AccountStore;
  /** Files, payment methods, invoice templates and test clocks, which the operator creates. */
  readonly registeredObjects: RegisteredObjectStore;
  readonly access: AccountAccess;
  readonly writer: AccountWriter;
  readonly mutations: Mutations;
  readonly facts: FactFinder;
  readonly tokens: Tokens;
  readonly rules: Rules;
  readonly wire: WireOptions;
  readonly encryptor: Pick<Encryptor, 'digest'>;
  /** Evaluates an account before a read if time has changed its state. */
  readonly refresh: (tenant: RequestContext['tenant'], id: string) => Promise<void>;
}

/** A write with a valid shape. */
export interface AccountWrite {
  /** The parsed body, used for the fingerprint. */
  readonly body: unknown;
  /** The checked fields of the request, without the content of its account token. */
  readonly requestFields: AccountRequestFields & { readonly account_token?: string };
  readonly include: ReadonlySet<Include>;
}

/**
 * Creates, updates, retrieves, lists and closes accounts. Source: accounts, sections 7, 10 and 12.
 */
export class Accounts {
  readonly #deps: AccountsDeps;
  readonly #accountIds: IdGenerator;

  constructor(deps: AccountsDeps) {
    this.#deps = deps;
    this.#accountIds = new IdGenerator({
      clock: deps.clock,
      random: deps.random,
      length: 16,
    });
  }

  async create(context: RequestContext, write: AccountWrite): Promise<MutationResponse> {
    const { createdMs, letters } = this.#accountIds.next();
    const empty = emptyAccount(context, `acct_${letters}`, createdMs);
    const call = {
      context,
      body: write.body,
      concurrencyKey: 'accounts',
      concurrencyLimit: createConcurrencyLimit(context.settings),
      lockKeys: [
        ...lockKeysOf(context, write),
        ...(context.settings.max_accounts === null ? [] : [`accounts:${context.tenant.platform}`]),
      ],
    };
    return await this.#deps.mutations.run(call, async () => {
      this.#checkAccess(context);
      return await this.#write(context, write, { account: empty, persons: [] }, 'create');
    });
  }

  async update(
    context: RequestContext,
    id: string,
    write: AccountWrite,
  ): Promise<MutationResponse> {
    const lockKeys = [`account:${id}`, ...lockKeysOf(context, write)];
    const call = { context, body: write.body, concurrencyKey: `account:${id}`, lockKeys };
    return await this.#deps.mutations.run(call, async () => {
      this.#checkAccess(context);
      const stored = await this.#deps.access.toChange(context.tenant, id);
      refuseChanged(context, accountTag(stored, this.#deps.encryptor));
      return await this.#write(context, write, stored, 'update');
    });
  }

  /** @returns an entity tag that changes with the account data that operators edit. */
  async etag(context: RequestContext, id: string): Promise<string> {
    const { access, encryptor, store } = this.#deps;
    await access.summary(context.tenant, id);
    const stored = await store.aggregate(context.tenant, id);
    if (stored === undefined) throw notFound('account', id);
    return accountTag(stored, encryptor);
  }

  /** @returns the response body. */
  async retrieve(
    context: RequestContext,
    id: string,
    include: ReadonlySet<Include>,
  ): Promise<string> {
    this.#checkAccess(context);
    const { access, clock, refresh, store } = this.#deps;
    const summary = await access.summary(context.tenant, id);
    if (summary.nextEvaluationMs !== undefined && summary.nextEvaluationMs <= clock.nowMs()) {
      await refresh(context.tenant, id);
    }
    if (include.size === 0) return summary.summaryJson;
    const view = await store.view(context.tenant, id);
    if (view === undefined) return summary.summaryJson;
    return JSON.stringify(accountObject(view, include, this.#wireFor(context)));
  }

  async list(
    context: RequestContext,
    request: ListRequest,
    filter: { readonly isClosed: boolean; readonly configurations: readonly ConfigurationName[] },
  ): Promise<string> {
    this.#checkAccess(context);
    const query = readPage(request);
    const stored = await this.#deps.store.listSummaries(context.tenant, filter, query);
    const { items, next_page_url, previous_page_url } = toPage(request, query, stored);
    // Summaries are stored as response JSON, so a page only concatenates them.
    const data = items.map(({ summaryJson }) => summaryJson).join(',');
    const links = JSON.stringify({ next_page_url, previous_page_url }).slice(1);
    return `{"data":[${data}],${links}`;
  }

  async close(
    context: RequestContext,
    id: string,
    call: {
      readonly body: unknown;
      readonly appliedConfigurations: readonly ConfigurationName[] | undefined;
    },
  ): Promise<MutationResponse> {
    const key = `account:${id}`;
    const mutation = { context, body: call.body, concurrencyKey: key, lockKeys: [key] };
    return await this.#deps.mutations.run(mutation, async () => {
      this.#checkAccess(context);
      const { access, encryptor, rules, writer } = this.#deps;
      const stored = await access.toChange(context.tenant, id);
      refuseChanged(context, accountTag(stored, encryptor));
      const { settings: platform, tenant } = context;
      const { appliedConfigurations } = call;
      const check = { livemode: tenant.livemode, platform, account: stored.account };
      refuse(rules.checkClose({ ...check, appliedConfigurations }));
      const after = { ...stored, account: { ...stored.account, isClosed: true } };
      const finished = writer.buildWriteSet(stored, after, reasonOf(context));
      await this.#deps.tokens.invalidateUnused(finished.writes, context.tenant, id);
      return { body: finished.summaryJson, writes: finished.writes };
    });
  }

  #checkAccess({ settings: platform, versionDate }: RequestContext): void {
    refuse(this.#deps.rules.checkAccess({ platform, versionDate }));
  }

  async #write(
    context: RequestContext,
    write: AccountWrite,
    stored: Aggregate,
    operation: 'create' | 'update',
  ): Promise<MutationOutcome> {
    const { clock, rules, writer } = this.#deps;
    // A create request applies its configurations at the instant of creation.
    const nowMs = operation === 'create' ? stored.account.createdMs : clock.nowMs();
    const { requestFields, token } = await this.#withToken(context, write.requestFields, operation);
    const { account, individual } = this.#merge(stored, requestFields, context, nowMs);
    const references = referencesIn(requestFields);
    const facts = await this.#deps.facts.find(context.tenant, references, {
      accountId: stored.account.id,
      countsOpenAccounts: operation === 'create' && context.settings.max_accounts !== null,
    });
    const provided = new ProvidedFields(requestFields);
    refuseMisplaced(stored.account, account, requestFields);
    refuse(
      rules.checkAccount({
        operation,
        livemode: context.tenant.livemode,
        nowMs,
        platform: context.settings,
        facts,
        requestFields,
        provided,
        hasAccountToken: token !== undefined,
        tokenAcceptsTerms: token?.acceptsTerms ?? false,
        stored: operation === 'create' ? undefined : stored.account,
        merged: withIndividual(account, individual),
        persons: stored.persons,
      }),
    );
    const operatorRequirements = unmetOperatorRequirements(account.operatorRequirements, provided);
    const after = {
      account: normalisePhone({ ...account, operatorRequirements }),
      persons: withPerson(stored.persons, individual),
    };
    const before = operation === 'create' ? undefined : stored;
    const finished = writer.buildWriteSet(before, after, reasonOf(context));
    if (token !== undefined) this.#deps.tokens.use(finished.writes, token);
    await this.#bindFiles(context, finished, references.fileIds);
    return { body: this.#responseBody(context, finished, write.include), writes: finished.writes };
  }

  async #withToken(
    context: RequestContext,
    requestFields: AccountWrite['requestFields'],
    operation: 'create' | 'update',
  ): Promise<{
    readonly requestFields: AccountRequestFields;
    readonly token: TokenUse | undefined;
  }> {
    if (requestFields.account_token === undefined) return { requestFields, token: undefined };
    return await this.#deps.tokens.accountTokenInto(context, requestFields, operation);
  }

  #merge(
    stored: Aggregate,
    requestFields: AccountRequestFields,
    context: RequestContext,
    nowMs: number,
  ) {
    const { random } = this.#deps;
    const { livemode } = context.tenant;
    const storedIndividual = stored.persons.find(({ id }) => id === stored.account.individualId);
    return mergeAccount(stored.account, storedIndividual, requestFields, {
      nowMs,
      settings: context.settings,
      newPersonId: () => `${livemode ? 'person_' : 'person_test_'}${randomLetters(random, 24)}`,
      newInvoicePrefix: () => Buffer.from(random.bytes(4)).toString('hex').toUpperCase(),
    });
  }

  #responseBody(
    context: RequestContext,
    { after, summaryJson }: FinishedChange,
    include: ReadonlySet<Include>,
  ): string {
    if (include.size === 0) return summaryJson;
    const { account, persons } = after;
    const individual = persons.find(({ id }) => id === account.individualId);
    const wire = this.#wireFor(context);
    return JSON.stringify(accountObject({ account, individual }, include, wire));
  }

  #wireFor({ userAgent }: RequestContext): WireOptions {
    const { wire } = this.#deps;
    const isBoolean = wire.appliedFormat === 'auto' && readsBooleansOnly(userAgent);
    return isBoolean ? { ...wire, appliedFormat: 'boolean' } : wire;
  }

  /** Assigns files without an owner to the first account that uses them. */
  async #bindFiles(
    context: RequestContext,
    { after, writes }: FinishedChange,
    fileIds: readonly string[],
  ): Promise<void> {
    await bindFiles(this.#deps.registeredObjects, {
      context,
      writes,
      fileIds,
      accountId: after.account.id,
      nowMs: this.#deps.clock.nowMs(),
    });
  }
}

export async function bindFiles(
  registeredObjects: RegisteredObjectStore,
  options: {
    readonly context: RequestContext;
    readonly writes: WriteSet;
    readonly fileIds: readonly string[];
    readonly accountId: string;
    readonly nowMs: number;
  },
): Promise<void> {
  const { tenant } = options.context;
  const files = await registeredObjects.findAll<RegisteredFile>(tenant, 'file', options.fileIds);
  for (const file of files) {
    if (file.account !== undefined) continue;
    const object = { ...file, account: options.accountId };
    registeredObjects.put(options.writes, {
      tenant,
      kind: 'file',
      createdMs: options.nowMs,
      object,
    });
  }
}

export const reasonOf = (context: RequestContext) => ({
  settings: context.settings,
  request: { id: context.requestId, idempotency_key: context.idempotencyKey },
});

function withPerson(
  persons: readonly StoredPerson[],
  person: StoredPerson | undefined,
): readonly StoredPerson[] {
  if (person === undefined) return persons;
  const others = persons.filter(({ id }) => id !== person.id);
  return [...others, person];
}

function withIndividual(
  account: StoredAccount,
  individual: StoredPerson | undefined,
): StoredAccount {
  if (individual === undefined) return account;
  const identity = { ...account.fields.identity, individual: individual.fields };
  return { ...account, fields: { ...account.fields, identity } };
}

/** Rejects fields whose validity depends on stored data. Source: accounts, sections 8.7 and 10. */
function refuseMisplaced(
  stored: StoredAccount,
  merged: StoredAccount,
  requestFields: AccountRequestFields,
): void {
  const { entity_type } = merged.fields.identity ?? {};
  if (
    requestFields.identity?.individual &&
    entity_type !== undefined &&
    entity_type !== 'individual'
  ) {
    const field = 'identity.individual';
    const message = `${field} cannot be set on an account of entity type ${entity_type}.`;
    throw invalidFields([{ field, code: 'bad_format', message }]);
  }
  if (requestFields.identity?.country === null || requestFields.identity?.country === '') {
    const isNeeded = merged.applied.merchant?.isActive || merged.applied.recipient?.isActive;
    if (isNeeded && stored.fields.identity?.country !== undefined) {
      const field = 'identity.country';
      const message = `${field} cannot be unset on an account with a merchant or recipient configuration.`;
      throw invalidFields([{ field, code: 'not_nullable', message }]);
    }
  }
  for (const name of ['customer', 'merchant', 'recipient'] as const) {
    const isDeactivated = requestFields.configuration?.[name]?.applied === false;
    if (isDeactivated && stored.applied[name]?.isActive !== true) {
      const field = `configuration.${name}.applied`;
      const message = `${field} cannot be false: the configuration is not applied.`;
      throw invalidFields([{ field, code: 'bad_format', message }]);
    }
  }
}

/** Returns the lock keys of all resources that concurrent requests may compete for. */
function lockKeysOf({ tenant }: RequestContext, { requestFields }: AccountWrite): string[] {
  const { clockIds, invoicePrefix, fileIds } = referencesIn(requestFields);
  const { platform } = tenant;
  return [
    ...clockIds.map((id) => `clock:${id}`),
    ...fileIds.map((id) => `file:${id}`),
    ...(invoicePrefix === undefined ? [] : [`prefix:${platform}:${invoicePrefix}`]),
    ...(requestFields.account_token === undefined ? [] : [`token:${requestFields.account_token}`]),
  ];
}

function emptyAccount({ tenant }: RequestContext, id: string, createdMs: number): StoredAccount {
  const none = { collector: 'vendor', entries: [], alternatives: [] } as const;
  // Lists the members explicitly, because each member after a spread costs a microsecond.
  return {
    platform: tenant.platform,
    livemode: tenant.livemode,
    id,
    createdMs,
    isClosed: false,
    fields: {},
    applied: {},
    individualId: undefined,
    everActive: [],
    overrides: NO_OVERRIDES,
    operatorRequirements: [],
    verifications: {},
    capabilities: {},
    requirements: none,
    futureRequirements: none,
    nextEvaluationMs: undefined,
  };
}
