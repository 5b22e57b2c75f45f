import { join } from 'node:path';
import {
  AttemptMetrics,
  type Clock,
  EgressSender,
  type EgressSettings,
  type FileSystem,
  type HttpHead,
  type HttpService,
  invariant,
  type Leases,
  type Logger,
  type Metrics,
  type Outbox,
  type OwnListener,
  type Principal,
  type Random,
  type RelationalStore,
  type RouteGroup,
  repeatJob,
  type SecretBox,
} from '@plinth/kernel';
import { type BootstrapKey, readBootstrapKeys } from './bootstrap-keys.js';
import type { AccountsConfig } from './config.js';
import type { AccountListener } from './domain/account/account-reports.js';
import type { AccountsDomain } from './domain/accounts-domain.js';
import { AccountMetrics } from './domain/metrics/account-metrics.js';
import type { ManagedKeys } from './domain/platform/operator.js';
import { DEFAULT_PLATFORM, Platforms } from './domain/platform/platforms.js';
import { DEFAULT_PLATFORM_SETTINGS } from './model/platform/platform-settings.js';
import { VendorWord } from './model/platform/vendor-word.js';
import { AccountsConventions } from './routes/conventions.js';
import { type KeyDirectory, RequestAuthenticator } from './routes/request-authenticator.js';
import { accountsRouteGroup } from './routes/table.js';
import type { ErrorWording } from './routes/to-wire.js';
import { VendorWordWarnings } from './routes/vendor-word-warnings.js';
import { ACCOUNT_MIGRATIONS } from './storage/account-tables.js';
import { CommitQueue } from './storage/commit-queue.js';
import { Encryptor } from './storage/encryptor.js';
import type { KeyStore } from './storage/keys/encryption-keys.js';
import { refuseForeignKeys } from './storage/keys/key-check.js';
import { KeyFile } from './storage/keys/key-file.js';
import { SharedKeys } from './storage/keys/shared-keys.js';
import { isShared } from './storage/lock-version-store.js';
import { oldestRecordMs } from './storage/oldest-record.js';
import { RetentionStore } from './storage/retention-store.js';
import { RowCounter } from './storage/row-counts.js';

/** Methods that the service needs from the owner of the platform keys. */
export interface PlatformKeyring extends KeyDirectory, ManagedKeys {
  adopt(presets: readonly { readonly platform: string; readonly text: string }[]): Promise<void>;
}

export interface AccountsDeps {
  readonly config: AccountsConfig;
  readonly store: RelationalStore;
  readonly outbox: Outbox;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: FileSystem;
  /** Encrypts the service's keys in a shared database. */
  readonly secrets: SecretBox;
  readonly log: Logger;
  /** Absolute path; the key file of the service is below `accounts/`. */
  readonly dataDir: string;
  readonly keys: PlatformKeyring;
  readonly metrics: Metrics;
  /** Allowed targets of events, and their proxy. */
  readonly egress: EgressSettings;
  /** Addresses that this server listens on. */
  readonly ownListeners: readonly OwnListener[];
  /** Another service that receives changes. */
  readonly listener?: AccountListener | undefined;
  /**
   * Authenticates an operator's request; `undefined` if it is not from an operator. Throws
   * `CredentialUncheckable`.
   */
  findOperator(request: HttpHead): Principal | undefined;
  /** Delivers the keys created at the first start to the operator, without logging them. */
  deliverFirstKeys(keys: readonly string[]): Promise<void>;
}

/** Keys to create at startup. Throws `bootstrap_keys_invalid`, as does creating the service. */
export function checkAccountsConfig({ bootstrap_keys }: AccountsConfig): readonly BootstrapKey[] {
  return readBootstrapKeys(bootstrap_keys, DEFAULT_PLATFORM);
}

/**
 * Creates the service for accounts, persons, tokens and events. Call `start` before the first
 * request.
 */
export function createAccounts(deps: AccountsDeps): HttpService {
  return new AccountsService(deps);
}

const UPKEEP_MS = 60_000;
/** How long a used or expired token is still recognized. */
const TOKEN_RETENTION_MS = 30 * 86_400_000;
/** Retention of lock versions, far longer than any request. */
const LOCK_VERSION_RETENTION_MS = 86_400_000;
const SHARED_REFRESH_MS = 1000;

class AccountsService implements HttpService {
  readonly name = 'accounts';
  readonly #deps: AccountsDeps;
  readonly #authenticator: RequestAuthenticator;
  readonly #wording: ErrorWording;
  readonly #platforms: Platforms;
  readonly #commits: CommitQueue;
  readonly #vendorWord: VendorWord;
  readonly #sender: EgressSender;
  readonly #attempts = new AttemptMetrics();
  readonly #accountMetrics = new AccountMetrics();
  readonly #rows: RowCounter;
  readonly #bootstrapKeys: readonly BootstrapKey[];
  #domain: AccountsDomain | undefined;
  #upkeep: Disposable | undefined;
  #refresh: Disposable | undefined;

  constructor(deps: AccountsDeps) {
    const { config, store, outbox, clock, random, log, keys } = deps;
    this.#deps = deps;
    this.#bootstrapKeys = readBootstrapKeys(config.bootstrap_keys, DEFAULT_PLATFORM);
    this.#vendorWord = new VendorWord(config.vendor_word, config.vendor_word_aliases);
    this.#commits = new CommitQueue({
      store,
      outbox,
      oldestRecordMs: oldestRecordMs(clock, config.idempotency_ttl_sec),
    });
    this.#sender = new EgressSender(deps.egress, deps);
    this.#attempts.register(deps.metrics, 'accounts_event');
    this.#rows = new RowCounter(store, clock);
    this.#accountMetrics.register(deps.metrics, this.#rows);
    this.#platforms = new Platforms({ store, commits: this.#commits, clock, random });
    this.#wording = {
      vendorWord: this.#vendorWord,
      headerPrefixes: config.header_prefixes,
      baseUrl: (requestUrl) =>
        config.public_url === '' ? requestUrl : config.public_url.replace(/\/+$/, ''),
      onBug: (err) => log.error({ err }, 'request failed'),
    };
    this.#authenticator = new RequestAuthenticator({
      keys,
      platforms: this.#platforms,
      random,
      headerPrefixes: config.header_prefixes,
      maxBodyBytes: config.max_body_bytes,
      vendorWordWarnings: new VendorWordWarnings(this.#vendorWord, log),
      findOperator: (request) => deps.findOperator(request),
    });
  }

  routeGroups(): readonly RouteGroup[] {
    const { config, random } = this.#deps;
    const domain = this.#domain;
    invariant(domain !== undefined, 'the accounts service must start before its routes are used');
    const authenticator = this.#authenticator;
    const conventions = new AccountsConventions(authenticator, this.#wording);
    return [
      accountsRouteGroup({
        authenticator,
        conventions,
        domain,
        config,
        vendorWord: this.#vendorWord,
        random,
      }),
    ];
  }

  async prepare(): Promise<void> {
    await this.#deps.store.migrate('accounts', ACCOUNT_MIGRATIONS);
  }

  async start(): Promise<void> {
    const { store, files, random, dataDir, clock, config, secrets } = this.#deps;
    // Loads rules and reference data while the store is prepared; servers without accounts never
    // load them.
    const [{ AccountsDomain }] = await Promise.all([
      import('./domain/accounts-domain.js'),
      this.prepare(),
    ]);
    const keyFile = new KeyFile({ files, random, folder: join(dataDir, 'accounts') });
    const shared = isShared(store)
      ? new SharedKeys({ store, secrets, random, clock, file: keyFile })
      : undefined;
    const keyStore: KeyStore = shared ?? keyFile;
    // The keys are opened before the first platform is stored, so that an interrupted start leaves
    // no data without a key.
    const encryptionKeys = await keyStore.open({ hasData: await this.#platforms.hasStored() });
    if (shared === undefined) await refuseForeignKeys(store, encryptionKeys, keyFile.path);
    const encryptor = new Encryptor(encryptionKeys);
    const isFirstStart = await this.#platforms.load();
    await this.#prepareKeys(isFirstStart);
    await this.#sender.start();
    this.#domain = new AccountsDomain({
      clock,
      random,
      store,
      encryptor,
      commits: this.#commits,
      platforms: this.#platforms,
      vendorWord: this.#vendorWord,
      config,
      keyring: this.#deps.keys,
      keyStore,
      encryptionKeys,
      outbox: this.#deps.outbox,
      log: this.#deps.log,
      sender: this.#sender,
      attempts: this.#attempts,
      accountMetrics: this.#accountMetrics,
      listener: this.#deps.listener,
    });
    const { upkeep, rotation, destinations, delivery } = this.#domain;
    await rotation.resume();
    await destinations.load();
    delivery.start();
    if (shared !== undefined) {
      const readKeys = async (): Promise<void> => {
        const keys = await shared.read();
        if (keys !== undefined) encryptor.use(keys);
      };
      this.#refresh = clock.every(SHARED_REFRESH_MS, async () => {
        const reading = [readKeys(), this.#platforms.reload(), destinations.load()];
        await Promise.all(reading).catch((err: unknown) =>
          this.#deps.log.error({ err }, 'cannot reload changes from the shared database'),
        );
      });
    }
    const { log } = this.#deps;
    const job = { clock, log, name: 'accounts upkeep', intervalMs: UPKEEP_MS };
    this.#upkeep = repeatJob(job, async () => {
      await this.#deps.leases.withLease('accounts-upkeep', async (signal) => {
        await upkeep.refreshDue(signal);
        await this.#purge(signal);
      });
    });
  }

  async close(): Promise<void> {
    this.#upkeep?.[Symbol.dispose]();
    this.#refresh?.[Symbol.dispose]();
    await this.#domain?.delivery.close();
    this.#sender.close();
    await this.#rows.close();
    await this.#commits.idle();
  }

  async #purge(signal: AbortSignal): Promise<void> {
    const { store, clock, config } = this.#deps;
    const nowMs = clock.nowMs();
    const before = {
      nowMs,
      idempotencyMs: oldestRecordMs(clock, config.idempotency_ttl_sec)(),
      eventsMs: nowMs - config.event_retention_sec * 1000,
      tokensMs: nowMs - TOKEN_RETENTION_MS,
      lockVersionsMs: nowMs - LOCK_VERSION_RETENTION_MS,
    };
    const retention = new RetentionStore(store);
    for (let hasMore = true; hasMore && !signal.aborted; ) {
      const { rowCount, expiredKinds } = await retention.purge(before);
      this.#accountMetrics.tokensExpired(expiredKinds);
      hasMore = rowCount > 0;
    }
  }

  async #prepareKeys(isFirstStart: boolean): Promise<void> {
    const { keys, deliverFirstKeys } = this.#deps;
    const presets = this.#bootstrapKeys;
    for (const { platform } of presets) {
      if (this.#platforms.find(platform) === undefined) {
        await this.#platforms.create(DEFAULT_PLATFORM_SETTINGS, platform);
      }
    }
    if (presets.length > 0) await keys.adopt(presets);
    else if (isFirstStart) {
      const newKeys = [false, true].flatMap((livemode) =>
        (['secret', 'publishable'] as const).map((kind) => ({
          platform: DEFAULT_PLATFORM,
          kind,
          livemode,
        })),
      );
      const issued = await keys.create(newKeys);
      await deliverFirstKeys(issued.map(({ text }) => text));
    }
  }
}
