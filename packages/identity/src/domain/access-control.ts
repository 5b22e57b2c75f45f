import type {
  Grantee,
  HttpHead,
  HttpHeaders,
  OpenableEndpoint,
  Permission,
  Principal,
  RouteAccess,
} from '@plinth/kernel';
import { ANONYMOUS, CredentialUncheckable, permits, requestError } from '@plinth/kernel';
import { identityError } from '../errors.js';
import { isTokenText, principalOf, tokenOf } from '../model/api-token.js';
import { BACKUP_RESOURCE } from '../model/granted.js';
import type { ApiTokens } from './api-tokens.js';
import { type Presented, readCredential } from './credential.js';
import type { FirstTokenClaim } from './first-token-claim.js';
import type { PageGuard } from './page-guard.js';
import type { PasswordUsers } from './password-users.js';

/** Request head that the gate checks. Only the credential is required. */
export interface CheckedHead {
  readonly headers: HttpHeaders;
  /** Normalized path and query. */
  readonly url?: string;
  readonly socket?: {
    readonly localAddress?: string | undefined;
    readonly remoteAddress?: string | undefined;
  };
}

export const TOKEN_PATH = '/api/v3/configure/token';
export const GRANTED_TOKEN_PATH = '/api/v3/enterprise/configure/token';
export const OPERATOR_TOKEN_PATH = `${TOKEN_PATH}/admin`;

/**
 * Authenticates requests and decides whether the principal may use a route. Decisions are synchronous and use only
 * data in memory, except for password checks. They depend on the route's declared access, not on the path;
 * only a server without authentication recognizes the token endpoints by path, because it disables them.
 * Source: tsdb-http, "Authentication and authorization", order of checks.
 */
export class AccessControl {
  readonly #tokens: ApiTokens;
  readonly #users: PasswordUsers;
  readonly #isWithoutAuth: boolean;
  readonly #open: ReadonlySet<OpenableEndpoint>;
  readonly #pages: PageGuard;
  readonly #claim: FirstTokenClaim;

  constructor(
    {
      tokens,
      users,
      claim,
    }: {
      readonly tokens: ApiTokens;
      readonly users: PasswordUsers;
      readonly claim: FirstTokenClaim;
    },
    settings: {
      readonly isWithoutAuth: boolean;
      readonly openEndpoints: readonly OpenableEndpoint[];
      readonly pages: PageGuard;
    },
  ) {
    this.#tokens = tokens;
    this.#users = users;
    this.#claim = claim;
    this.#isWithoutAuth = settings.isWithoutAuth;
    this.#open = new Set(settings.openEndpoints);
    this.#pages = settings.pages;
  }

  /**
   * Authenticates a request before its handler runs. Returns an anonymous principal on an open
   * route. Throws `endpoint_disabled`, `page_refused`, `claim_code_missing`, `claim_code_wrong`,
   * `claims_locked`, `credential_malformed`, `not_authenticated`.
   * @param access declared access of the route; `undefined` for an unknown route, which is only
   * revealed to authenticated clients.
   */
  authenticate(
    request: CheckedHead & Pick<HttpHead, 'client'>,
    access: RouteAccess | undefined,
  ): Principal | Promise<Principal> {
    if (access === 'public') return ANONYMOUS;
    if (this.#isWithoutAuth) {
      const isTokenRoute = [TOKEN_PATH, GRANTED_TOKEN_PATH].some((path) =>
        request.url?.startsWith(path),
      );
      if (isTokenRoute) throw identityError('endpoint_disabled');
      // Without authentication, a web page that reaches this address would have admin rights.
      this.#pages.refuseForeignPages(request);
      return ANONYMOUS;
    }
    if (access === 'first_token' && this.#isFirstToken()) {
      this.#pages.refuseForeignPages(request);
      if (this.isFirstTokenFree()) this.#claim.check(request);
      return ANONYMOUS;
    }
    if (this.#isOpen(access)) return ANONYMOUS;
    const presented = readCredential(request.url ?? '/', request.headers['authorization']);
    const tokenPrincipal = this.#byToken(presented);
    if (tokenPrincipal !== undefined) return tokenPrincipal;
    const login = presented?.login;
    // A token, or an empty user name, needs no password check.
    if (login === undefined || login.user === '' || isTokenText(login.password)) {
      throw requestError('not_authenticated');
    }
    return this.#users.identify(login, request.client.key);
  }

  /**
   * Returns the admin behind a request. `undefined` for any other or invalid credential. Throws
   * `CredentialUncheckable`.
   */
  findAdmin(request: CheckedHead): Principal | undefined {
    try {
      if (this.#isWithoutAuth) {
        this.#pages.refuseForeignPages(request);
        return ANONYMOUS;
      }
      const { authorization } = request.headers;
      const tokenPrincipal = this.#byToken(readCredential(request.url ?? '/', authorization));
      return tokenPrincipal?.kind === 'admin' ? tokenPrincipal : undefined;
    } catch (error) {
      if (error instanceof CredentialUncheckable) throw error;
      return undefined;
    }
  }

  /**
   * Whether the token or user behind a principal still exists and has not expired. Always true for
   * principals of other kinds.
   */
  isCurrent(principal: Principal): boolean {
    const token = tokenOf(principal);
    if (token !== undefined) return this.#tokens.isCurrent(token);
    return principal.kind !== 'grantee' || this.#users.isCurrent(principal);
  }

  #byToken(presented: Presented | undefined): Principal | undefined {
    const token = presented && this.#tokens.find(presented.token);
    return token && principalOf(token);
  }

  /**
   * Whether `principal` may use a route. Checked before each handler call; access is denied by
   * default.
   */
  grants(access: RouteAccess | undefined, principal: Principal | undefined): boolean {
    switch (access) {
      case 'public':
        return true;
      case 'admin':
        return this.#isWithoutAuth || principal?.kind === 'admin';
      case 'granted':
        return principal?.kind === 'grantee' || this.grants('admin', principal);
      case 'backup':
        return (
          this.grants('admin', principal) ||
          (principal?.kind === 'grantee' && mayBackUp(principal.permissions))
        );
      case 'first_token':
        return principal?.kind === 'admin' || this.#isFirstToken();
      case 'platform':
        return principal?.kind === 'platform_key';
      case 'app':
      case 'editor':
        return principal?.kind === access;
      case undefined:
        return false;
      default:
        return (
          this.#isOpen(access) ||
          this.grants('admin', principal) ||
          (principal?.kind === 'grantee' && mayProbe(principal, access.openable))
        );
    }
  }

  /** Whether the server has no token yet, so the first one can be created without a credential. */
  isFirstTokenFree(): boolean {
    return !this.#tokens.hasOperator() && !this.#tokens.hasValidToken();
  }

  #isOpen(access: RouteAccess | undefined): boolean {
    return typeof access === 'object' && this.#open.has(access.openable);
  }

  /**
   * Creating the operator token needs no credential, unless a preset token of another name is in
   * use. Otherwise any client could take over that server.
   */
  #isFirstToken(): boolean {
    return this.#tokens.hasOperator() || !this.#tokens.hasValidToken();
  }
}

/** Backups contain the server's secrets, so `system:*` does not include them. */
const mayBackUp = (permissions: readonly Permission[]): boolean =>
  permissions.some(
    ({ resource, names, actions }) =>
      resource === 'system' && names.includes(BACKUP_RESOURCE) && actions.includes('read'),
  );

/**
 * `ping` is open to every authenticated client, because clients first check which product they are
 * connected to.
 */
const mayProbe = ({ permissions, isAdministrator }: Grantee, name: OpenableEndpoint): boolean =>
  name === 'ping' ||
  isAdministrator ||
  permits(permissions, { resource: 'system', name, action: 'read' });
