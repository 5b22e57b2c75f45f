import type { AddressInfo } from 'node:net';
import type {
  Authenticator,
  Clock,
  FileSystem,
  HttpService,
  Logger,
  Principal,
  Random,
  RelationalStore,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IdentityConfig } from './config.js';
import { parseRecoveryBind } from './config.js';
import type { RawRequest } from './domain/access-gate.js';
import { AccessGate } from './domain/access-gate.js';
import { AdminTokens } from './domain/admin-tokens.js';
import { readTokenFile } from './domain/token-file.js';
import type { AdminToken } from './model/admin-token.js';
import { RecoveryListener } from './routes/recovery-listener.js';
import { registerTokenRoutes } from './routes/token-routes.js';
import { TokenStore } from './storage/token-store.js';

export interface IdentityNeeds {
  readonly config: IdentityConfig;
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  readonly log: Logger;
}

export interface Identity extends HttpService, Authenticator {
  /**
   * Who the request speaks for, before routing; synchronous. Throws `EndpointDisabled`, `CredentialMalformed` and
   * `NotAuthenticated`, which `toErrorAnswer` turns into an answer.
   */
  check(request: RawRequest): Principal;
  /** For the system table of tokens: by id, expired ones included. */
  listTokens(): readonly AdminToken[];
  /** Where the recovery listener is open, between `start` and its first success. */
  readonly recoveryAddress: AddressInfo | undefined;
}

/** `start` reads the tokens; nothing may be asked of the service before it has resolved. */
export function createIdentity(needs: IdentityNeeds): Identity {
  return new IdentityService(needs);
}

class IdentityService implements Identity {
  readonly name = 'identity';
  readonly #needs: IdentityNeeds;
  readonly #tokens: AdminTokens;
  readonly #gate: AccessGate;
  readonly #recovery: RecoveryListener;
  #recoveryAddress: AddressInfo | undefined;

  constructor(needs: IdentityNeeds) {
    const { store, clock, random, config, log } = needs;
    this.#needs = needs;
    this.#tokens = new AdminTokens({ store: new TokenStore(store), clock, random });
    this.#gate = new AccessGate(this.#tokens, {
      isWithoutAuth: config.without_auth,
      openEndpoints: config.disable_authz,
    });
    this.#recovery = new RecoveryListener({ tokens: this.#tokens, log });
  }

  get recoveryAddress(): AddressInfo | undefined {
    return this.#recoveryAddress;
  }

  check(request: RawRequest): Principal {
    return this.#gate.check(request);
  }

  async resolve(request: FastifyRequest): Promise<Principal> {
    return this.#gate.check(request.raw);
  }

  listTokens(): readonly AdminToken[] {
    return this.#tokens.list();
  }

  async register(app: FastifyInstance): Promise<void> {
    // The gate compares paths as they are written; without the routes no other spelling reaches them either.
    if (this.#needs.config.without_auth) return;
    registerTokenRoutes(app, { tokens: this.#tokens, gate: this.#gate });
  }

  async start(): Promise<void> {
    const { config, files, log } = this.#needs;
    await this.#tokens.load();
    if (config.admin_token_file !== undefined) {
      const preset = await readTokenFile(files, config.admin_token_file);
      const isTaken = await this.#tokens.adoptPreset(preset);
      log.info({ tokenName: preset.name, isTaken }, 'admin token file read');
    }
    const bind = config.admin_token_recovery_http_bind;
    if (bind !== undefined && !config.without_auth) {
      this.#recoveryAddress = await this.#recovery.listen(parseRecoveryBind(bind));
    }
  }

  async close(): Promise<void> {
    await this.#recovery.close();
  }
}
