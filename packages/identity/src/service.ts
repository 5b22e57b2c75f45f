import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type {
  ApiConventions,
  Clock,
  CountTogether,
  FileSystem,
  HttpRequest,
  HttpService,
  Logger,
  Random,
  RelationalStore,
  ReportEvent,
  RouteGroup,
} from '@plinth/kernel';
import type { IdentityConfig } from './config.js';
import { parseRecoveryBind } from './config.js';
import { AccessControl } from './domain/access-control.js';
import { ApiTokens } from './domain/api-tokens.js';
import { AppDirectory } from './domain/app-directory.js';
import type { AppHooks } from './domain/app-hooks.js';
import { AppJwts, type AppPrincipal } from './domain/app-jwt.js';
import { Apps } from './domain/apps.js';
import { CredentialResolver } from './domain/credential-resolver.js';
import {
  type ClaimCodeDelivery,
  type ClaimRequest,
  FirstTokenClaim,
  type FirstTokenPolicy,
  type FirstTokenState,
} from './domain/first-token-claim.js';
import { LAST_USED_ACCURACY_MS } from './domain/last-used.js';
import { PageGuard, type PageGuardSettings } from './domain/page-guard.js';
import { PasswordUsers } from './domain/password-users.js';
import { PlatformKeys } from './domain/platform-keys.js';
import { Registry } from './domain/registry.js';
import { StoreFailure } from './domain/store-failure.js';
import { readTokenFile } from './domain/token-file.js';
import type { IssuedToken, ListedToken } from './model/api-token.js';
import type { App, AppSelector } from './model/app.js';
import { operatorConventions } from './routes/conventions.js';
import { type RecoveredToken, RecoveryListener } from './routes/recovery-listener.js';
import type { TokenQuota } from './routes/registry-routes.js';
import { identityRouteGroups } from './routes/table.js';
import { AppStore } from './storage/app-store.js';
import { PasswordUserStore } from './storage/password-user-store.js';
import { PlatformKeyStore } from './storage/platform-key-store.js';
import { RegistryStore } from './storage/registry-store.js';
import { TokenStore } from './storage/token-store.js';

export interface IdentityDeps {
  readonly config: IdentityConfig;
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  readonly log: Logger;
  /** Names of this server, and origins of other sites that may send requests. */
  readonly pages: PageGuardSettings;
  readonly firstToken: {
    readonly policy: FirstTokenPolicy;
    /** Lower-case name of the header in which proxies send the client address. */
    readonly proxyHeader: string;
    /** Whether a setting declares a proxy. */
    readonly isBehindProxy: boolean;
    readonly delivery: ClaimCodeDelivery;
  };
  /** API conventions of the time-series service, to which the token endpoints belong. */
  readonly conventions: ApiConventions;
  /** Counts wrong passwords across all nodes; used after `start`. */
  readonly countTogether?: CountTogether | undefined;
  /** Receives token changes. */
  readonly report?: ReportEvent | undefined;
  /** Called when the recovery listener has replaced the admin token. */
  readonly onTokenRecovered?: ((recovered: RecoveredToken) => void) | undefined;
  /** TLS options of the shared port; the recovery listener uses TLS if that port does. */
  readonly tls?: SecureContextOptions | undefined;
}

export interface Identity extends HttpService {
  /** API conventions of all routes below `/ops/v1`, whichever service has the route. */
  readonly conventions: ApiConventions;
  /** Authenticates requests and authorizes routes. */
  readonly accessControl: AccessControl;
  /**
   * Returns the requirement for creating the first admin token; `undefined` if a token exists or
   * the server needs none.
   */
  firstTokenState(request: ClaimRequest): FirstTokenState | undefined;
  /** Keys with which platforms call the accounts service. */
  readonly platformKeys: PlatformKeys;
  /** Returns the tokens for the system table, including expired ones, ordered by id. */
  listTokens(): readonly ListedToken[];
  readonly tokens: ApiTokens;
  /** Creates the first admin token for a request that the gate has admitted. Throws `token_name_exists`. */
  createFirstToken(request: Pick<HttpRequest, 'principal' | 'client'>): Promise<IssuedToken>;
  /** InfluxDB 1.x users with passwords. */
  readonly users: PasswordUsers;
  /**
   * Resolves the JSON web token in an `Authorization` header to its app. Throws `AppJwtRefused` and
   * `CredentialUncheckable`.
   */
  authenticateApp(authorization: string | undefined): Promise<AppPrincipal>;
  /** Users, installations, OAuth apps, repositories and their credentials. */
  readonly registry: Registry;
  /** Resolves an `Authorization` header of any kind. */
  readonly credentials: CredentialResolver;
  /** Finds an app; uses a cached result if the app was requested recently. */
  findApp(selector: AppSelector): Promise<App | undefined>;
  /** Adds another service's per-app data; call before `start`. */
  useAppHooks(hooks: AppHooks): void;
  /** Sets the check that runs before an OAuth token is created; call before `start`. */
  useTokenQuota(quota: TokenQuota): void;
  /** Uses renewed certificates for later handshakes. */
  useTls(tls: SecureContextOptions): void;
  /** Address of the recovery listener, between `start` and its first success. */
  readonly recoveryAddress: AddressInfo | undefined;
}

/** `start` loads the tokens; use the service only after it has resolved. */
export function createIdentity(deps: IdentityDeps): Identity {
  return new IdentityService(deps);
}

/** Maximum delay before tokens of other nodes on the same database are visible. */
const SHARED_REFRESH_MS = 1000;

class IdentityService implements Identity {
  readonly name = 'identity';
  readonly conventions: ApiConventions;
  readonly #deps: IdentityDeps;
  readonly platformKeys: PlatformKeys;
  readonly registry: Registry;
  readonly credentials: CredentialResolver;
  readonly #registryStore: RegistryStore;
  readonly tokens: ApiTokens;
  readonly users: PasswordUsers;
  readonly accessControl: AccessControl;
  readonly #claim: FirstTokenClaim;
  readonly #recovery: RecoveryListener;
  readonly #appStore: AppStore;
  readonly #appDirectory: AppDirectory;
  readonly #apps: Apps;
  readonly #appJwts: AppJwts;
  readonly #storeFailure: StoreFailure;
  #appHooks: AppHooks | undefined;
  #tokenQuota: TokenQuota | undefined;
  #refresh: Disposable | undefined;
  #flush: Disposable | undefined;
  #recoveryAddress: AddressInfo | undefined;

  constructor(deps: IdentityDeps) {
    const { store, clock, random, config, log } = deps;
    this.#deps = deps;
    const { admin_token_recovery_http_bind: recoveryBind = 'true' } = config;
    const isShared = store.system === 'postgresql';
    const about = {
      clock,
      random,
      log,
      maxAgeSec: isShared ? config.shared_max_age_sec : Number.POSITIVE_INFINITY,
    };
    this.tokens = new ApiTokens({ store: new TokenStore(store, deps.report), ...about });
    this.users = new PasswordUsers({
      ...{ store: new PasswordUserStore(store), countTogether: deps.countTogether },
      ...about,
    });
    this.platformKeys = new PlatformKeys({ store: new PlatformKeyStore(store), ...about });
    this.#claim = new FirstTokenClaim({
      ...deps.firstToken,
      ...{ bind: deps.pages.bind, clock, random, log },
    });
    this.accessControl = new AccessControl(
      { tokens: this.tokens, users: this.users, claim: this.#claim },
      {
        isWithoutAuth: config.without_auth,
        openEndpoints: config.disable_authz,
        pages: new PageGuard(deps.pages),
      },
    );
    this.#recovery = new RecoveryListener({
      tokens: this.tokens,
      log,
      tls: deps.tls,
      onRecovered: deps.onTokenRecovered ?? (() => undefined),
      pages: new PageGuard({ ...deps.pages, bind: parseRecoveryBind(recoveryBind).host }),
    });
    this.conventions = operatorConventions(this.accessControl, log);
    this.#appStore = new AppStore(store);
    this.#appDirectory = new AppDirectory({ store: this.#appStore, clock });
    this.#apps = new Apps({
      store: this.#appStore,
      directory: this.#appDirectory,
      clock,
      random,
      hooks: () => this.#appHooks,
    });
    this.#appJwts = new AppJwts({
      apps: this.#appDirectory,
      clock,
      settings: {
        iatLeewaySec: config.jwt_iat_leeway_sec,
        expLeewaySec: config.jwt_exp_leeway_sec,
      },
    });
    this.#registryStore = new RegistryStore(store);
    const vendor = config.credential_prefix;
    this.registry = new Registry({
      store: this.#registryStore,
      apps: this.#appDirectory,
      clock,
      random,
      vendor,
    });
    this.#storeFailure = new StoreFailure({ clock, log });
    this.credentials = new CredentialResolver({
      registry: this.registry,
      tokens: this.tokens,
      platformKeys: this.platformKeys,
      appJwts: this.#appJwts,
      storeFailure: this.#storeFailure,
      clock,
      vendor,
    });
  }

  useTls(tls: SecureContextOptions): void {
    this.#recovery.useTls(tls);
  }

  get recoveryAddress(): AddressInfo | undefined {
    return this.#recoveryAddress;
  }

  firstTokenState(request: ClaimRequest): FirstTokenState | undefined {
    return this.#isUnclaimed() ? this.#claim.stateFor(request) : undefined;
  }

  #isUnclaimed(): boolean {
    return !this.#deps.config.without_auth && this.accessControl.isFirstTokenFree();
  }

  listTokens(): readonly ListedToken[] {
    return this.tokens.list();
  }

  async createFirstToken({
    principal,
    client,
  }: Pick<HttpRequest, 'principal' | 'client'>): Promise<IssuedToken> {
    const byTokenId = principal.kind === 'admin' ? principal.tokenId : undefined;
    const issued = await this.tokens.createOperator(byTokenId);
    if (byTokenId === undefined) await this.#claim.complete(client.address);
    return issued;
  }

  async authenticateApp(authorization: string | undefined): Promise<AppPrincipal> {
    return await this.#storeFailure.notice(this.#appJwts.authenticate(authorization));
  }

  async findApp(selector: AppSelector): Promise<App | undefined> {
    return await this.#appDirectory.find(selector);
  }

  useAppHooks(hooks: AppHooks): void {
    this.#appHooks = hooks;
  }

  useTokenQuota(quota: TokenQuota): void {
    this.#tokenQuota = quota;
  }

  routeGroups(): readonly RouteGroup[] {
    const { conventions, config } = this.#deps;
    return identityRouteGroups({
      operatorConventions: this.conventions,
      serverConventions: conventions,
      apps: this.#apps,
      registry: this.registry,
      listTokens: () => this.tokens.list(),
      quota: async (key, base) => await this.#tokenQuota?.(key, base),
      tokens: config.without_auth ? undefined : this.tokens,
      createFirst: (request) => this.createFirstToken(request),
    });
  }

  async start(): Promise<void> {
    const { config, files, log } = this.#deps;
    await Promise.all([
      this.tokens.load(),
      this.#appStore.migrate(),
      this.#registryStore.migrate(),
    ]);
    const { store, clock } = this.#deps;
    this.#flush = clock.every(LAST_USED_ACCURACY_MS, () => this.#flushLastUsed());
    if (store.system === 'postgresql') {
      this.#refresh = clock.every(SHARED_REFRESH_MS, async () => {
        await this.tokens
          .refresh()
          .catch((err: unknown) =>
            log.error({ err }, 'cannot reload tokens from the shared database'),
          );
        if (!this.#isUnclaimed()) await this.#claim.completedElsewhere();
        await this.users
          .refresh()
          .catch((err: unknown) =>
            log.error({ err }, 'cannot reload users from the shared database'),
          );
        await this.platformKeys
          .load()
          .catch((err: unknown) =>
            log.error({ err }, 'cannot reload platform keys from the shared database'),
          );
      });
    }
    await Promise.all([this.platformKeys.load(), this.users.refresh()]);
    if (config.admin_token_file !== undefined) {
      const preset = await readTokenFile(files, config.admin_token_file);
      const isTaken = await this.tokens.adoptPreset(preset);
      log.info({ tokenName: preset.name, isTaken }, 'admin token file read');
    }
    await (this.#isUnclaimed() ? this.#claim.open() : this.#claim.discard());
    const bind = config.admin_token_recovery_http_bind;
    if (bind !== undefined && !config.without_auth) {
      this.#recoveryAddress = await this.#recovery.listen(parseRecoveryBind(bind));
    }
  }

  async close(): Promise<void> {
    this.#refresh?.[Symbol.dispose]();
    this.#flush?.[Symbol.dispose]();
    await this.#recovery.close();
    if (this.#flush !== undefined) await this.#flushLastUsed();
  }

  async #flushLastUsed(): Promise<void> {
    await Promise.all([this.tokens.flushLastUsed(), this.platformKeys.flushLastUsed()]);
  }
}
