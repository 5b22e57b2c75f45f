import type { RequestFields } from '../../model/account/parts.js';
import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import { ProvidedFields } from '../../model/account/provided-fields.js';
import { IdGenerator } from '../../model/ids.js';
import { refuse } from '../../model/violation.js';
import { personObject } from '../../model/wire/person-object.js';
import type { Aggregate } from '../../storage/account-store.js';
import { referencesIn } from '../change/facts.js';
import { mergePerson } from '../change/merge-account.js';
import type { MutationOutcome, MutationResponse } from '../change/mutations.js';
import { notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';
import { unmetOperatorRequirements } from '../requirements/operator-requirements.js';
import { type ListRequest, readPage, toPage } from './account-pages.js';
import { type AccountsDeps, bindFiles, reasonOf } from './accounts.js';
import { personTag, refuseChanged } from './entity-tags.js';
import type { TokenUse } from './tokens.js';

type PersonsDeps = Omit<AccountsDeps, 'wire' | 'encryptor' | 'refresh'>;

export interface PersonWrite {
  /** The parsed body, used for the fingerprint. */
  readonly body: unknown;
  readonly requestFields: RequestFields<PersonFields> & { readonly person_token?: string };
}

/** Manages the persons of an account. Source: accounts, section 9.1. */
export class Persons {
  readonly #deps: PersonsDeps;
  readonly #idGenerator: IdGenerator;

  constructor(deps: PersonsDeps) {
    this.#deps = deps;
    this.#idGenerator = new IdGenerator({ clock: deps.clock, random: deps.random, length: 24 });
  }

  async create(
    context: RequestContext,
    accountId: string,
    write: PersonWrite,
  ): Promise<MutationResponse> {
    return await this.#change(context, accountId, write, async (stored) => {
      return await this.#write(context, write, { stored, before: undefined });
    });
  }

  async update(
    context: RequestContext,
    target: { readonly accountId: string; readonly id: string },
    write: PersonWrite,
  ): Promise<MutationResponse> {
    return await this.#change(context, target.accountId, write, async (stored) => {
      const before = personIn(stored, target.id);
      refuseChanged(context, personTag(before));
      return await this.#write(context, write, { stored, before });
    });
  }

  async retrieve(
    context: RequestContext,
    target: { readonly accountId: string; readonly id: string },
  ): Promise<{ readonly body: string; readonly etag: string }> {
    this.#checkAccess(context);
    await this.#deps.access.summary(context.tenant, target.accountId);
    const person = await this.#deps.store.person(context.tenant, target.accountId, target.id);
    if (person === undefined) throw notFound('person', target.id);
    return { body: JSON.stringify(personObject(person)), etag: personTag(person) };
  }

  async list(context: RequestContext, accountId: string, request: ListRequest): Promise<string> {
    this.#checkAccess(context);
    await this.#deps.access.summary(context.tenant, accountId);
    const query = readPage(request);
    const found = await this.#deps.store.listPersons(context.tenant, accountId, query);
    const { items, next_page_url, previous_page_url } = toPage(request, query, found);
    return JSON.stringify({ data: items.map(personObject), next_page_url, previous_page_url });
  }

  async delete(
    context: RequestContext,
    target: { readonly accountId: string; readonly id: string },
  ): Promise<MutationResponse> {
    const write = { body: {}, requestFields: {} };
    return await this.#change(context, target.accountId, write, async (stored) => {
      const person = personIn(stored, target.id);
      refuseChanged(context, personTag(person));
      const { settings: platform } = context;
      const { account } = stored;
      refuse(this.#deps.rules.checkPersonDeletion({ platform, account, person }));
      const persons = stored.persons.filter(({ id }) => id !== target.id);
      const { writes } = this.#deps.writer.buildWriteSet(
        stored,
        { account, persons },
        reasonOf(context),
      );
      return { body: JSON.stringify({ id: target.id, object: 'v2.core.account_person' }), writes };
    });
  }

  async #change(
    context: RequestContext,
    accountId: string,
    write: PersonWrite,
    work: (stored: Aggregate) => Promise<MutationOutcome>,
  ): Promise<MutationResponse> {
    const { person_token } = write.requestFields;
    const lockKeys = [
      `account:${accountId}`,
      ...referencesIn(write.requestFields).fileIds.map((id) => `file:${id}`),
      ...(person_token === undefined ? [] : [`token:${person_token}`]),
    ];
    const concurrencyKey = `account:${accountId}`;
    const call = { context, body: write.body, concurrencyKey, lockKeys };
    return await this.#deps.mutations.run(call, async () => {
      this.#checkAccess(context);
      return await work(await this.#deps.access.toChange(context.tenant, accountId));
    });
  }

  async #write(
    context: RequestContext,
    write: PersonWrite,
    { stored, before }: { readonly stored: Aggregate; readonly before: StoredPerson | undefined },
  ): Promise<MutationOutcome> {
    const { account } = stored;
    const { requestFields, token } = await this.#withToken(
      context,
      account.id,
      write.requestFields,
    );
    const provided = new ProvidedFields(requestFields);
    const merged = this.#merge(stored, before, requestFields, context.tenant.livemode);
    const { fileIds, ...others } = referencesIn(requestFields);
    const facts = await this.#deps.facts.find(
      context.tenant,
      { ...others, fileIds },
      { accountId: account.id, countsOpenAccounts: false },
    );
    refuse(
      this.#deps.rules.checkPerson({
        operation: before === undefined ? 'create' : 'update',
        livemode: context.tenant.livemode,
        nowMs: this.#deps.clock.nowMs(),
        platform: context.settings,
        facts,
        requestFields,
        provided,
        hasPersonToken: token !== undefined,
        account,
        stored: before,
        merged,
        persons: stored.persons,
      }),
    );
    const persons = replacePerson(stored.persons, merged);
    const operatorRequirements = unmetOperatorRequirements(
      account.operatorRequirements,
      provided,
      before?.id,
    );
    const after = { account: { ...account, operatorRequirements }, persons };
    const done = this.#deps.writer.buildWriteSet(stored, after, reasonOf(context));
    if (token !== undefined) this.#deps.tokens.use(done.writes, token);
    await bindFiles(this.#deps.registeredObjects, {
      context,
      writes: done.writes,
      fileIds,
      accountId: account.id,
      nowMs: this.#deps.clock.nowMs(),
    });
    return { body: JSON.stringify(personObject(merged)), writes: done.writes };
  }

  async #withToken(
    context: RequestContext,
    accountId: string,
    sent: PersonWrite['requestFields'],
  ): Promise<{
    readonly requestFields: RequestFields<PersonFields>;
    readonly token: TokenUse | undefined;
  }> {
    if (sent.person_token === undefined) return { requestFields: sent, token: undefined };
    return await this.#deps.tokens.personTokenInto(context, accountId, sent as never);
  }

  #merge(
    { account }: Aggregate,
    before: StoredPerson | undefined,
    requestFields: RequestFields<PersonFields>,
    livemode: boolean,
  ): StoredPerson {
    if (before !== undefined) {
      const nowMs = Math.max(this.#deps.clock.nowMs(), before.updatedMs + 1);
      const newPersonId = () => before.id;
      return mergePerson(before, requestFields, {
        accountId: account.id,
        livemode,
        nowMs,
        newPersonId,
      });
    }
    const { createdMs: nowMs, letters } = this.#idGenerator.next();
    const newPersonId = () => `${livemode ? 'person_' : 'person_test_'}${letters}`;
    return mergePerson(undefined, requestFields, {
      accountId: account.id,
      livemode,
      nowMs,
      newPersonId,
    });
  }

  #checkAccess({ settings: platform, versionDate }: RequestContext): void {
    refuse(this.#deps.rules.checkAccess({ platform, versionDate }));
  }
}

function personIn({ persons }: Aggregate, id: string): StoredPerson {
  const person = persons.find((each) => each.id === id);
  if (person === undefined) throw notFound('person', id);
  return person;
}

/** Replaces or appends a person; the list stays in order of creation. */
function replacePerson(
  persons: readonly StoredPerson[],
  person: StoredPerson,
): readonly StoredPerson[] {
  const isThere = persons.some(({ id }) => id === person.id);
  if (!isThere) return [...persons, person];
  return persons.map((each) => (each.id === person.id ? person : each));
}
