import { type Clock, hasExpired, type Random } from '@plinth/kernel';
import type { RequestFields } from '../../model/account/parts.js';
import type { PersonFields } from '../../model/account/person.js';
import {
  isV1Token,
  type StoredToken,
  TOKEN_PREFIX,
  type TokenKind,
  tokenObject,
} from '../../model/account/token.js';
import { IdGenerator } from '../../model/ids.js';
import { createConcurrencyLimit } from '../../model/platform/platform-settings.js';
import type { Tenant } from '../../model/platform/tenant.js';
import type { Rules } from '../../model/rule-input.js';
import { AccountsRefused, refuse } from '../../model/violation.js';
import { WriteSet } from '../../storage/commit-queue.js';
import type { TokenStore } from '../../storage/token-store.js';
import { tokenContent } from '../change/attested.js';
import type { AccountRequestFields } from '../change/merge-account.js';
import type { MutationResponse, Mutations } from '../change/mutations.js';
import { accountClosed, notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';
import type { AccountAccess } from './account-access.js';

/** A validated token, to be used once its request is accepted. */
export interface TokenUse {
  readonly token: StoredToken;
  readonly acceptsTerms: boolean;
}

interface TokensDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: TokenStore;
  readonly access: AccountAccess;
  readonly mutations: Mutations;
  readonly rules: Rules;
  readonly ttlMs: number;
}

/**
 * Single-use tokens with data that the platform's own server does not see. Source: accounts,
 * sections 9.2 and 9.3.
 */
export class Tokens {
  readonly #deps: TokensDeps;
  readonly #idGenerator: IdGenerator;

  constructor(deps: TokensDeps) {
    this.#deps = deps;
    this.#idGenerator = new IdGenerator({ clock: deps.clock, random: deps.random, length: 24 });
  }

  /** @param write.requestFields content with a valid shape. */
  async createPersonToken(
    context: RequestContext,
    accountId: string,
    write: { readonly body: unknown; readonly requestFields: unknown },
  ): Promise<MutationResponse> {
    const concurrencyKey = `account:${accountId}`;
    // Takes the account's lock, because closing the account invalidates its tokens.
    const call = { context, body: write.body, concurrencyKey, lockKeys: [concurrencyKey] };
    return await this.#deps.mutations.run(call, async () => {
      this.#checkCreation(context);
      const { isClosed } = await this.#deps.access.summary(context.tenant, accountId);
      if (isClosed) throw accountClosed(accountId);
      return this.#make(context, 'person', { accountId, requestFields: write.requestFields });
    });
  }

  async createAccountToken(
    context: RequestContext,
    write: { readonly body: unknown; readonly requestFields: unknown },
  ): Promise<MutationResponse> {
    const call = {
      context,
      body: write.body,
      concurrencyKey: 'accounts',
      concurrencyLimit: createConcurrencyLimit(context.settings),
      lockKeys: [],
    };
    return await this.#deps.mutations.run(call, async () => {
      this.#checkCreation(context);
      return this.#make(context, 'account', {
        accountId: undefined,
        requestFields: write.requestFields,
      });
    });
  }

  async retrieve(
    context: RequestContext,
    kind: TokenKind,
    options: { readonly id: string; readonly accountId?: string },
  ): Promise<string> {
    const { settings: platform, versionDate, tenant } = context;
    refuse(this.#deps.rules.checkAccess({ platform, versionDate }));
    if (options.accountId !== undefined) await this.#deps.access.summary(tenant, options.accountId);
    const token = await this.#deps.store.find(tenant, kind, options.id);
    if (token === undefined || token.accountId !== options.accountId) {
      throw notFound(`${kind} token`, options.id);
    }
    return JSON.stringify(tokenObject(token));
  }

  /**
   * Merges an account token's content with the fields that may accompany it (step 9 of the order of
   * checks).
   */
  async accountTokenInto(
    context: RequestContext,
    requestFields: AccountRequestFields & { readonly account_token?: string },
    operation: 'create' | 'update',
  ): Promise<{ readonly requestFields: AccountRequestFields; readonly token: TokenUse }> {
    const id = requestFields.account_token ?? '';
    refuseOtherTokens(id, 'account');
    const token = await this.#deps.store.find(context.tenant, 'account', id);
    if (token === undefined) throw unknownToken('account');
    const isNonTokenizedAllowed =
      operation === 'update' || context.settings.account_token_companions === 'non_tokenized';
    rejectOtherFields(requestFields, isNonTokenizedAllowed);
    const { content, acceptsTerms } = this.#open(token);
    const merged: AccountRequestFields = {
      ...requestFields,
      ...content,
      ...((requestFields.identity || content.identity) && {
        identity: { ...requestFields.identity, ...content.identity },
      }),
    };
    return { requestFields: merged, token: { token, acceptsTerms } };
  }

  /** Merges a person token's content (step 9 of the order of checks). */
  async personTokenInto(
    context: RequestContext,
    accountId: string,
    requestFields: Readonly<Record<string, unknown>> & { readonly person_token?: string },
  ): Promise<{ readonly requestFields: RequestFields<PersonFields>; readonly token: TokenUse }> {
    const id = requestFields.person_token ?? '';
    refuseOtherTokens(id, 'person');
    const token = await this.#deps.store.find(context.tenant, 'person', id);
    if (token === undefined) throw unknownToken('person');
    if (token.accountId !== accountId) {
      throw new AccountsRefused({
        code: 'incorrect_account_for_person_token',
        param: 'person_token',
        message: `person_token ${id} was created for another account.`,
      });
    }
    const { content, acceptsTerms } = this.#open(token);
    const companion = Object.keys(requestFields).find((name) => name !== 'person_token');
    if (companion !== undefined) {
      throw new AccountsRefused({
        code: 'param_alongside_person_token',
        param: companion,
        message: `${companion} cannot be combined with person_token.`,
      });
    }
    return {
      requestFields: content as RequestFields<PersonFields>,
      token: { token, acceptsTerms },
    };
  }

  /** Marks a token as used; this becomes durable with the change that used the token. */
  use(writes: WriteSet, { token }: TokenUse): void {
    const usedMs = this.#deps.clock.nowMs();
    this.#deps.store.put(writes, { ...token, usedMs, payload: undefined });
  }

  /** Invalidates the unused tokens of an account that is being closed. */
  async invalidateUnused(writes: WriteSet, tenant: Tenant, accountId: string): Promise<void> {
    const { store, clock } = this.#deps;
    const nowMs = clock.nowMs();
    for (const id of await store.listUnused(accountId, nowMs)) {
      const token = await store.find(tenant, 'person', id);
      if (token !== undefined)
        store.put(writes, { ...token, expiresMs: nowMs, payload: undefined });
    }
  }

  #checkCreation({ settings: platform, versionDate, keyKind, tenant }: RequestContext): void {
    const { rules } = this.#deps;
    refuse(rules.checkAccess({ platform, versionDate }));
    refuse(rules.checkTokenCreation(platform));
    if (keyKind === 'publishable' || !tenant.livemode) return;
    throw new AccountsRefused({
      code: 'token_must_be_created_with_publishable_key',
      message: 'In live mode, a token can be created only with the publishable key.',
    });
  }

  #make(
    context: RequestContext,
    kind: TokenKind,
    options: { readonly accountId: string | undefined; readonly requestFields: unknown },
  ): { readonly body: string; readonly writes: WriteSet } {
    const { createdMs, letters } = this.#idGenerator.next();
    const { userAgent, ip, tenant } = context;
    const token: StoredToken = {
      id: TOKEN_PREFIX[kind] + letters,
      kind,
      tenant,
      accountId: options.accountId,
      createdMs,
      expiresMs: createdMs + this.#deps.ttlMs,
      usedMs: undefined,
      payload: {
        given: options.requestFields,
        ip,
        ...(userAgent !== undefined && { user_agent: userAgent }),
      },
    };
    const writes = new WriteSet();
    this.#deps.store.put(writes, token);
    return { body: JSON.stringify(tokenObject(token)), writes };
  }

  #open(token: StoredToken): ReturnType<typeof tokenContent> {
    const { id, kind, usedMs, expiresMs, createdMs, payload } = token;
    const param = `${kind}_token`;
    if (usedMs !== undefined) {
      throw new AccountsRefused({
        code: 'token_already_used',
        param,
        message: `${param} ${id} has already been used; create another token.`,
      });
    }
    if (hasExpired(expiresMs, this.#deps.clock.nowMs()) || payload === undefined) {
      throw new AccountsRefused({
        code: 'token_expired',
        param,
        message: `${param} ${id} has expired; create another token.`,
      });
    }
    return tokenContent(payload, createdMs);
  }
}

function refuseOtherTokens(id: string, kind: TokenKind): void {
  const param = `${kind}_token`;
  if (isV1Token(id)) {
    throw new AccountsRefused({
      code: 'v1_token_invalid_in_v2',
      param,
      message: `${param} is a v1 token; create a v2 token.`,
    });
  }
  const other: TokenKind = kind === 'person' ? 'account' : 'person';
  if (id.startsWith(TOKEN_PREFIX[other])) {
    throw new AccountsRefused({
      code: 'incorrect_token_wrong_type',
      param,
      message: `${param} contains ${other === 'account' ? 'an account' : 'a person'} token.`,
    });
  }
}

const unknownToken = (kind: TokenKind): AccountsRefused =>
  new AccountsRefused({
    code: kind === 'person' ? 'invalid_person_token' : 'invalid_account_token',
    param: `${kind}_token`,
    message: `${kind}_token is unknown, or belongs to another platform or mode.`,
  });

/** Fields that tokens never contain, so they may be sent in addition if the platform allows it. */
const NON_TOKENIZED: ReadonlySet<string> = new Set([
  'configuration',
  'dashboard',
  'defaults',
  'metadata',
]);

function rejectOtherFields(requestFields: object, isNonTokenizedAllowed: boolean): void {
  for (const [name, value] of Object.entries(requestFields)) {
    if (name === 'account_token' || name === 'include') continue;
    if (isNonTokenizedAllowed && NON_TOKENIZED.has(name)) continue;
    const path = name === 'identity' && isNonTokenizedAllowed ? identityCompanion(value) : name;
    if (path === undefined) continue;
    throw new AccountsRefused({
      code: 'param_alongside_account_token',
      param: path,
      message: `${path} cannot be combined with account_token.`,
    });
  }
}

/** Within the identity, only the country may be sent in addition to a token. */
function identityCompanion(identity: unknown): string | undefined {
  if (typeof identity !== 'object' || identity === null) return 'identity';
  const name = Object.keys(identity).find((each) => each !== 'country');
  return name === undefined ? undefined : `identity.${name}`;
}
