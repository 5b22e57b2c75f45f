import {
  type Clock,
  type LimitProfile,
  type Principal,
  type Random,
  randomLetters,
} from '@plinth/kernel';
import { identityError } from '../errors.js';
import {
  type Credential,
  type CredentialKind,
  hashCredential,
  makeCredentialText,
} from '../model/credential-token.js';
import {
  type AccountReference,
  accountKey,
  type IdentityAttributes,
  type IdentityKind,
  type IdentityRecord,
  keyOf,
  overridesOf,
} from '../model/identity-record.js';
import type { RegistryStore } from '../storage/registry-store.js';
import type { AppDirectory } from './app-directory.js';

export interface NewIdentity {
  readonly kind: IdentityKind;
  /** If absent, an id is generated for an OAuth app. */
  readonly id: number | string | undefined;
  readonly secret: string | undefined;
  readonly attributes: IdentityAttributes;
}

/** A `null` attribute is removed. */
export type AttributeChange = {
  readonly [K in keyof IdentityAttributes]?: IdentityAttributes[K] | null;
};

export interface NewCredential {
  readonly kind: CredentialKind;
  readonly identity: string;
  readonly viaApp: string | undefined;
  readonly expiresInSec: number | undefined;
}

const TTL_MS = 30_000;
const SHARED_TTL_MS = 1_000;
/** Lifetime of an installation token requested by its app. */
const INSTALLATION_TOKEN_SEC = 3_600;

/**
 * Identities and credentials of users, apps and installations, and their limits. Everything is read from the store.
 * Callers that need fast look-ups cache results and compare `version`.
 */
export class Registry {
  readonly #store: RegistryStore;
  readonly #apps: AppDirectory;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #vendor: string;
  #version = 0;

  constructor(deps: {
    readonly store: RegistryStore;
    readonly apps: AppDirectory;
    readonly clock: Clock;
    readonly random: Random;
    /** Prefix of every token. */
    readonly vendor: string;
  }) {
    this.#store = deps.store;
    this.#apps = deps.apps;
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#vendor = deps.vendor;
  }

  /** Incremented whenever earlier results may be outdated. */
  get version(): number {
    return this.#version;
  }

  /**
   * Time for which a result may be cached while `version` is unchanged; shorter if other nodes share the store.
   */
  get rememberMs(): number {
    return this.#store.isShared ? SHARED_TTL_MS : TTL_MS;
  }

  /**
   * Throws `identity_exists`. @returns the generated secret of an OAuth app created without one.
   */
  async create(newIdentity: NewIdentity): Promise<{
    readonly record: IdentityRecord;
    readonly secret: string | undefined;
  }> {
    const id = newIdentity.id ?? `Ov23${randomLetters(this.#random, 16)}`;
    const isOauthApp = newIdentity.kind === 'oauth_app';
    const madeSecret =
      isOauthApp && newIdentity.secret === undefined ? randomLetters(this.#random, 40) : undefined;
    const secret = newIdentity.secret ?? madeSecret;
    const nowMs = this.#clock.nowMs();
    const record: IdentityRecord = {
      key: keyOf(newIdentity.kind, id),
      kind: newIdentity.kind,
      id,
      attributes: newIdentity.attributes,
      secretHash: secret === undefined ? undefined : hashCredential(secret),
      createdMs: nowMs,
      updatedMs: nowMs,
    };
    if (!(await this.#store.insert(record)))
      throw identityError('identity_exists', { key: record.key });
    this.#version += 1;
    return { record, secret: madeSecret };
  }

  /** Throws `identity_not_found`. */
  async get(key: string): Promise<IdentityRecord> {
    const record = await this.#store.find(key);
    if (record === undefined) throw identityError('identity_not_found', { key });
    return record;
  }

  async list(after: string, limit: number): Promise<readonly IdentityRecord[]> {
    return await this.#store.list(after, limit);
  }

  /** Throws `identity_not_found`. */
  async update(
    key: string,
    change: AttributeChange,
    secret: string | undefined,
  ): Promise<IdentityRecord> {
    const updatedMs = this.#clock.nowMs();
    const changed = await this.#store.update(key, (record) => {
      const merged = Object.entries({ ...record.attributes, ...change });
      const attributes = Object.fromEntries(merged.filter(([, value]) => value !== null));
      const secretHash = secret === undefined ? record.secretHash : hashCredential(secret);
      return { ...record, attributes, secretHash, updatedMs };
    });
    if (changed === undefined) throw identityError('identity_not_found', { key });
    this.#version += 1;
    return changed;
  }

  /** Also deletes its credentials. Throws `identity_not_found`. */
  async delete(key: string): Promise<void> {
    if (!(await this.#store.delete(key))) throw identityError('identity_not_found', { key });
    this.#version += 1;
  }

  async issue(
    newIdentity: NewCredential,
  ): Promise<{ readonly credential: Credential; readonly text: string }> {
    const text = makeCredentialText(this.#random, this.#vendor, newIdentity.kind);
    const nowMs = this.#clock.nowMs();
    const { kind, identity, viaApp, expiresInSec } = newIdentity;
    const credential = await this.#store.insertCredential({
      hash: hashCredential(text),
      kind,
      identity,
      viaApp,
      createdMs: nowMs,
      expiresMs: expiresInSec === undefined ? undefined : nowMs + expiresInSec * 1000,
    });
    return { credential, text };
  }

  /** Called by the app itself. Throws `identity_not_found` and `installation_of_other_app`. */
  async issueForInstallation(
    appId: number,
    installationId: number,
  ): Promise<{ readonly credential: Credential; readonly text: string }> {
    const { key, attributes } = await this.get(keyOf('installation', installationId));
    if (attributes.app_id !== appId) throw identityError('installation_of_other_app', { key });
    return await this.issue({
      kind: 'installation',
      identity: key,
      viaApp: String(appId),
      expiresInSec: INSTALLATION_TOKEN_SEC,
    });
  }

  /** Throws `credential_not_found`. */
  async revoke(id: number): Promise<void> {
    if (!(await this.#store.deleteCredential(id))) throw identityError('credential_not_found');
    this.#version += 1;
  }

  async findCredential(text: string): Promise<Credential | undefined> {
    return await this.#store.findCredential(hashCredential(text));
  }

  async findRecord(key: string): Promise<IdentityRecord | undefined> {
    return await this.#store.find(key);
  }

  /** Returns the principal of a credential, with the limits of its identity through that credential. */
  async principalOf(credential: Credential): Promise<Principal> {
    const separator = credential.identity.indexOf(':');
    const kind = credential.identity.slice(0, separator);
    const id = credential.identity.slice(separator + 1);
    const limits = await this.profileOf(credential.identity, credential);
    switch (kind) {
      case 'installation':
        return { kind, installationId: Number(id), limits };
      case 'repo':
        return { kind: 'repository', repositoryId: Number(id), limits };
      default:
        return { kind: 'user', userId: Number(id), limits };
    }
  }

  /** Returns the limit profile of an identity; `undefined` if no identity has this key. */
  async findProfile(key: string): Promise<LimitProfile | undefined> {
    const record = await this.#store.find(key);
    return record === undefined ? undefined : await this.profileOf(key);
  }

  /** Returns the limit profile of an identity. Source: rate-limits, section 4.1. */
  async profileOf(key: string, through?: Credential): Promise<LimitProfile> {
    const record = await this.#store.find(key);
    const attributes = record?.attributes ?? {};
    const account = attributes.account;
    const organization =
      account?.type === 'Organization'
        ? (await this.#store.find(accountKey(account)))?.attributes
        : undefined;
    return {
      isEnterprise: await this.#isEnterprise(key, attributes, through),
      repositoriesCount: attributes.repositories_count ?? 0,
      usersCount: organization?.users_count ?? 0,
      overrides: overridesOf(attributes),
    };
  }

  async #isEnterprise(
    key: string,
    attributes: IdentityAttributes,
    through: Credential | undefined,
  ): Promise<boolean> {
    const kind = key.slice(0, key.indexOf(':'));
    switch (kind) {
      case 'user':
        return (
          through?.viaApp !== undefined && (await this.#isThroughEnterprise(attributes, through))
        );
      case 'installation':
        return await this.#isOnEnterprise(attributes.account);
      case 'app':
        return await this.#isAppOfEnterprise(key.slice(4), attributes.owner);
      default:
        return await this.#isOnEnterprise(attributes.owner);
    }
  }

  /**
   * Enterprise limits apply if the app's owner is an enterprise; with an OAuth app, the user must
   * also belong to the organization.
   */
  async #isThroughEnterprise(
    user: IdentityAttributes,
    { kind, viaApp = '' }: Credential,
  ): Promise<boolean> {
    if (kind === 'app_user') return await this.#isAppOfEnterprise(viaApp, undefined);
    const app = (await this.#store.find(keyOf('oauth_app', viaApp)))?.attributes;
    const owner = app?.owner?.type === 'Organization' ? [app.owner.id] : [];
    for (const id of [...owner, ...(app?.approved_by ?? [])]) {
      const isMember = user.organizations?.includes(id) ?? false;
      if (isMember && (await this.#isOnEnterprise({ type: 'Organization', id }))) return true;
    }
    return false;
  }

  async #isAppOfEnterprise(id: string, owner: AccountReference | undefined): Promise<boolean> {
    if (owner !== undefined) return await this.#isOnEnterprise(owner);
    const app = /^\d+$/.test(id) ? await this.#apps.find({ id: Number(id) }) : undefined;
    if (app?.owner === undefined) return false;
    // The account's current record takes precedence over the owner data stored at registration.
    const account = (await this.#store.find(accountKey(app.owner)))?.attributes;
    return (account?.plan ?? app.owner.plan) === 'enterprise';
  }

  async #isOnEnterprise(account: AccountReference | undefined): Promise<boolean> {
    if (account === undefined) return false;
    const record = await this.#store.find(accountKey(account));
    return record?.attributes.plan === 'enterprise';
  }
}
