import type {
  AttemptMetrics,
  Clock,
  EgressSender,
  Logger,
  Outbox,
  Random,
  RelationalStore,
} from '@plinth/kernel';
import type { AccountsConfig } from '../config.js';
import type { VendorWord } from '../model/platform/vendor-word.js';
import type { WireOptions } from '../model/wire/account-object.js';
import type { AccountRow } from '../storage/account-codec.js';
import { AccountStore } from '../storage/account-store.js';
import type { CommitQueue } from '../storage/commit-queue.js';
import { DestinationStore } from '../storage/destination-store.js';
import type { EncryptionKeys, Encryptor } from '../storage/encryptor.js';
import { EventStore } from '../storage/event-store.js';
import { IdempotencyStore } from '../storage/idempotency-store.js';
import type { KeyStore } from '../storage/keys/encryption-keys.js';
import { LockVersionStore } from '../storage/lock-version-store.js';
import { oldestRecordMs } from '../storage/oldest-record.js';
import { RegisteredObjectStore } from '../storage/registered-object-store.js';
import { TokenStore } from '../storage/token-store.js';
import { AccountAccess } from './account/account-access.js';
import { type AccountListener, AccountReports } from './account/account-reports.js';
import { AccountUpkeep } from './account/account-upkeep.js';
import { Accounts } from './account/accounts.js';
import { Persons } from './account/persons.js';
import { Tokens } from './account/tokens.js';
import { AccountWriter } from './change/account-writer.js';
import { FactFinder } from './change/facts.js';
import { KeyedLocks } from './change/keyed-locks.js';
import { Mutations } from './change/mutations.js';
import { OptimisticCommits } from './change/optimistic-commits.js';
import { EventDelivery } from './delivery/event-delivery.js';
import { EventDestinations } from './events/event-destinations.js';
import { Events } from './events/events.js';
import type { AccountMetrics } from './metrics/account-metrics.js';
import { KeyRotation } from './platform/key-rotation.js';
import { type ManagedKeys, Operator } from './platform/operator.js';
import type { Platforms } from './platform/platforms.js';
import { RegisteredObjects } from './platform/registered-objects.js';
import { TestClocks } from './platform/test-clocks.js';
import { REFERENCE_LISTS } from './reference/index.js';
import { deriveRequirements } from './requirements/index.js';
import { RULES } from './rules/index.js';

export interface DomainDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: RelationalStore;
  readonly encryptor: Encryptor;
  readonly commits: CommitQueue;
  readonly platforms: Platforms;
  readonly vendorWord: VendorWord;
  readonly config: AccountsConfig;
  readonly keyring: ManagedKeys;
  readonly keyStore: KeyStore;
  readonly encryptionKeys: EncryptionKeys;
  readonly outbox: Outbox;
  readonly log: Logger;
  /** Sends events to their destinations. */
  readonly sender: EgressSender;
  readonly attempts: AttemptMetrics;
  readonly accountMetrics: AccountMetrics;
  readonly listener: AccountListener | undefined;
}

/** Creates and connects the parts of the domain. */
export class AccountsDomain {
  readonly mutations: Mutations;
  readonly accounts: Accounts;
  readonly persons: Persons;
  readonly tokens: Tokens;
  readonly upkeep: AccountUpkeep;
  readonly clocks: TestClocks;
  readonly operator: Operator;
  readonly rotation: KeyRotation;
  readonly destinations: EventDestinations;
  readonly events: Events;
  readonly delivery: EventDelivery;

  constructor(deps: DomainDeps) {
    const { clock, random, encryptor, commits, platforms, config } = deps;
    const locks = new KeyedLocks();
    const store = new AccountStore(deps.store, encryptor);
    commits.onCommitted((writes) => {
      deps.accountMetrics.committed(writes);
      const rows = writes.rows.get('accounts_accounts') ?? [];
      store.noteCommitted(rows as unknown as readonly AccountRow[]); // the rows are from the accounts table
    });
    const registeredObjects = new RegisteredObjectStore(deps.store);
    const events = new EventStore(deps.store);
    const records = new IdempotencyStore({
      store: deps.store,
      encryptor,
      oldestMs: oldestRecordMs(clock, config.idempotency_ttl_sec),
    });
    const access = new AccountAccess(store);
    const facts = new FactFinder({ accounts: store, registeredObjects, clock });
    const optimisticCommits = new OptimisticCommits({
      commits,
      lockVersions: new LockVersionStore({ store: deps.store, clock, random }),
    });
    const mutations = new Mutations({
      ...{ clock, commits: optimisticCommits, records, locks, encryptor },
      metrics: deps.accountMetrics,
    });
    this.mutations = mutations;
    const wire: WireOptions = {
      vendorWord: deps.vendorWord,
      appliedFormat: config.applied_format,
      lists: REFERENCE_LISTS,
    };
    const { listener, outbox } = deps;
    const reports =
      listener && new AccountReports({ outbox, events, accounts: store, listener, wire });
    const destinationStore = new DestinationStore(deps.store, encryptor);
    const writer = new AccountWriter({
      clock,
      random,
      encryptor,
      events,
      derive: deriveRequirements,
      wire,
      // If nodes share the store, another node may have added a receiver a moment ago.
      hasSubscriber: (bundle) =>
        destinationStore.isShared ||
        this.destinations.hasSubscriber(bundle) ||
        reports?.hasSubscriber(bundle) === true,
    });
    this.destinations = new EventDestinations({
      clock,
      random,
      store: destinationStore,
      mutations,
      targets: deps.sender.guard,
      putBundle: (writes, bundle) => writer.putBundle(writes, bundle),
    });
    const retentionMs = config.event_retention_sec * 1000;
    this.events = new Events({ clock, store: events, vendorWord: deps.vendorWord, retentionMs });
    this.delivery = new EventDelivery({
      clock,
      random,
      log: deps.log,
      outbox: deps.outbox,
      commits,
      events,
      store: destinationStore,
      destinations: this.destinations,
      sender: deps.sender,
      metrics: deps.attempts,
      headerPrefixes: config.header_prefixes,
    });
    const ttlMs = config.token_ttl_sec * 1000;
    const tokenStore = new TokenStore(deps.store, encryptor);
    const shared = { clock, random, store, registeredObjects, access, writer, mutations, facts };
    this.tokens = new Tokens({
      clock,
      random,
      store: tokenStore,
      access,
      mutations,
      rules: RULES,
      ttlMs,
    });
    this.upkeep = new AccountUpkeep({
      clock,
      store,
      writer,
      commits: optimisticCommits,
      locks,
      platforms,
    });
    this.accounts = new Accounts({
      ...shared,
      tokens: this.tokens,
      rules: RULES,
      wire,
      encryptor,
      refresh: (tenant, id) => this.upkeep.refresh(tenant, id),
    });
    this.persons = new Persons({ ...shared, tokens: this.tokens, rules: RULES });
    const { upkeep } = this;
    this.clocks = new TestClocks({
      clock,
      random,
      registeredObjects,
      accounts: store,
      commits,
      mutations,
      writer,
    });
    this.rotation = new KeyRotation({
      store: deps.store,
      commits: optimisticCommits,
      locks,
      keyStore: deps.keyStore,
      encryptor,
      keys: deps.encryptionKeys,
    });
    this.operator = new Operator({
      clock,
      random,
      lists: REFERENCE_LISTS,
      vendorWord: deps.vendorWord,
      wire,
      platforms,
      keys: deps.keyring,
      store,
      commits,
      destinations: this.destinations,
      registeredObjects: new RegisteredObjects({
        store: registeredObjects,
        commits,
        clock,
        random,
      }),
      clocks: this.clocks,
      upkeep,
      rotation: this.rotation,
    });
  }
}
