import { createHash } from 'node:crypto';
import {
  type ApiConventions,
  type Clock,
  EgressSender,
  type FileSystem,
  type HttpService,
  type Leases,
  type LiveSource,
  type Logger,
  type Metrics,
  type Outbox,
  type OwnListener,
  type Random,
  type RelationalStore,
  type RouteGroup,
  type SecretBox,
  type Tracer,
} from '@plinth/kernel';
import type { WebhooksConfig } from './config.js';
import { AppWebhooks } from './domain/app-webhooks.js';
import { DeliveryEngine } from './domain/delivery/delivery-engine.js';
import { QueueCleanup } from './domain/delivery/queue-cleanup.js';
import { DeliveryFiguresView } from './domain/delivery-figures.js';
import { DeliveryLog } from './domain/delivery-log.js';
import { HookRegistry } from './domain/hook-registry.js';
import { HookRules } from './domain/hook-rules.js';
import { INTERNAL_EVENT_TYPES, InternalEvents } from './domain/internal-events.js';
import { payloadOf } from './domain/payload/event-body.js';
import { PayloadProcessor } from './domain/payload/payload-processor.js';
import { pingPayload } from './domain/ping.js';
import { Publisher } from './domain/publisher.js';
import { QueueView } from './domain/queue-view.js';
import { Redelivery } from './domain/redelivery.js';
import { Retention } from './domain/retention.js';
import type { Hook, RetryPolicy } from './model/hook.js';
import type { AppInfo } from './routes/app-routes.js';
import { type Credentials, WebhookConventions } from './routes/conventions.js';
import { liveSources } from './routes/live-sources.js';
import { type TableDeps, webhookRouteGroups } from './routes/table.js';
import { DeliveryStore } from './storage/delivery-store.js';
import { EncryptedUrls } from './storage/encrypted-urls.js';
import { HookStore } from './storage/hook-store.js';
import { QueueStore } from './storage/queue/queue-store.js';

/** The app registry as this service needs it. */
export interface AppRegistry extends Credentials {
  find(
    selector: { readonly id: number } | { readonly client_id: string },
  ): Promise<AppInfo | undefined>;
  /** Returns the app of a registered installation. */
  findInstallationApp(installationId: number): Promise<number | undefined>;
}

export interface WebhooksDeps {
  readonly config: WebhooksConfig;
  readonly store: RelationalStore;
  readonly secrets: SecretBox;
  /** Id of this node's data folder, unique among the nodes of the store. */
  readonly folderId: string;
  readonly files: FileSystem;
  readonly leases: Leases;
  readonly outbox: Outbox;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly tracer: Tracer | undefined;
  readonly apps: AppRegistry;
  readonly version: string;
  /** URL under which clients reach the server; undefined to use the URL of each request. */
  readonly publicUrl: string | undefined;
  /** Base URL of links in deliveries without a request, used without a public URL. */
  readonly localUrl: string;
  /** Addresses on which this server listens. */
  readonly ownListeners: readonly OwnListener[];
  /** API conventions of all paths below `/ops/v1`. */
  readonly operatorConventions: ApiConventions;
}

export interface Webhooks extends HttpService {
  /**
   * Receives events of services that do not use the outbox; undefined when internal events are
   * disabled.
   */
  readonly internalEvents: InternalEvents | undefined;
  /** Connects the webhooks to the app registry. */
  readonly appHooks: AppWebhooks;
}

/**
 * Creates the webhooks service. Call `start` before the first event; `close` lets running attempts
 * finish.
 */
export function createWebhooks(deps: WebhooksDeps): Webhooks {
  return new WebhookService(deps);
}

class WebhookService implements Webhooks {
  readonly name = 'webhooks';
  readonly appHooks: AppWebhooks;
  readonly internalEvents: InternalEvents | undefined;
  readonly #deps: WebhooksDeps;
  readonly #conventions: WebhookConventions;
  readonly #rules: HookRules;
  readonly #hookStore: HookStore;
  readonly #hooks: HookRegistry;
  readonly #queue: QueueStore;
  readonly #deliveries: DeliveryStore;
  readonly #figures: DeliveryFiguresView;
  readonly #urls: EncryptedUrls;
  readonly #sender: EgressSender;
  readonly #payloads = new PayloadProcessor();
  readonly #queueCleanup: QueueCleanup;
  readonly #engine: DeliveryEngine;
  readonly #publisher: Publisher;
  readonly #redelivery: Redelivery;
  readonly #retention: Retention;
  #isClosed = false;

  constructor(deps: WebhooksDeps) {
    const { config, store, clock, random, log, metrics } = deps;
    this.#deps = deps;
    const { apps: credentials, publicUrl } = deps;
    this.#conventions = new WebhookConventions({
      config,
      credentials,
      clock,
      random,
      log,
      publicUrl,
    });
    this.#sender = new EgressSender(
      {
        allowedTargets: config.allow_private_targets,
        allowedPorts: config.allowed_ports.map(Number),
        extraCaFile: config.extra_ca_file,
        proxy: config.egress_proxy,
        directHosts: config.egress_no_proxy,
        timeoutMs: config.timeout_ms,
        maxResponseBytes: config.response_body_bytes,
      },
      deps,
    );
    this.#rules = new HookRules(this.#sender.guard, {
      httpsOnly: config.https_only,
      acceptMaskAsSecret: config.accept_mask_as_secret,
    });
    this.#hookStore = new HookStore(store, deps.secrets);
    this.#hooks = new HookRegistry(this.#hookStore, clock);
    this.#queue = new QueueStore(store, random.uuidV7(), deps.folderId);
    this.#deliveries = new DeliveryStore(store);
    this.#figures = new DeliveryFiguresView(this.#deliveries, clock);
    this.#urls = new EncryptedUrls(deps.secrets);
    this.#queueCleanup = new QueueCleanup({
      queue: this.#queue,
      hooks: this.#hooks,
      urls: this.#urls,
      clock,
      log,
    });
    this.#engine = new DeliveryEngine({
      settings: engineSettings(deps),
      queueCleanup: this.#queueCleanup,
      queue: this.#queue,
      hooks: this.#hooks,
      sender: this.#sender,
      urls: this.#urls,
      payloads: this.#payloads,
      clock,
      random,
      log,
      tracer: deps.tracer,
      disable: (hook, why) => this.#disable(hook, why),
    });
    this.#engine.metrics.register(metrics);
    this.#publisher = new Publisher({
      queue: this.#queue,
      hooks: this.#hooks,
      engine: this.#engine,
      clock,
      random,
      log,
      settings: {
        maxPayloadBytes: config.max_payload_bytes,
        enrichesPayload: config.enrich_payload,
      },
    });
    this.#redelivery = new Redelivery({
      deliveries: this.#deliveries,
      queue: this.#queue,
      hooks: this.#hooks,
      engine: this.#engine,
      clock,
    });
    this.#retention = new Retention({
      deliveries: this.#deliveries,
      clock,
      leases: deps.leases,
      log,
      retentionDays: config.retention_days,
      payloadDays: config.retain_payload_days,
    });
    this.appHooks = new AppWebhooks({
      hooks: this.#hooks,
      store: this.#hookStore,
      rules: this.#rules,
      figures: this.#figures,
      defaultRetry: retryOf(config),
      onCommitted: (appId, what) => this.#appCommitted(appId, what),
    });
    if (config.internal_events_enabled) {
      const events = new InternalEvents({
        hooks: this.#hooks,
        publisher: this.#publisher,
        isShared: this.#queue.isShared,
      });
      this.internalEvents = events;
      deps.outbox.subscribe('webhooks', INTERNAL_EVENT_TYPES, (event) => events.handle(event));
    }
  }

  routeGroups(): readonly RouteGroup[] {
    return webhookRouteGroups(this.#tableDeps());
  }

  liveSources(): readonly LiveSource[] {
    return liveSources({ ...this.#tableDeps(), log: this.#deps.log });
  }

  async prepare(): Promise<void> {
    await this.#hookStore.prepare();
  }

  async start(): Promise<void> {
    await this.#sender.start();
    await this.#hooks.start();
    await this.#engine.start();
    await this.#queueCleanup.start();
    this.#retention.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#retention.close();
    await this.#queueCleanup.close();
    await this.#engine.close();
    this.#sender.close();
    await this.#payloads.close();
  }

  #tableDeps(): TableDeps {
    const { config, apps, clock, random, operatorConventions } = this.#deps;
    return {
      config,
      clock,
      random,
      operatorConventions,
      conventions: this.#conventions,
      hooks: this.#hooks,
      rules: this.#rules,
      engine: this.#engine,
      publisher: this.#publisher,
      internalEvents: this.internalEvents,
      payloads: this.#payloads,
      redelivery: this.#redelivery,
      deliveries: new DeliveryLog(this.#deliveries, this.#urls),
      figures: this.#figures,
      queue: new QueueView(this.#queue),
      findApp: (id) => apps.find({ id }),
      findAppId: async ({ id, client_id }) => {
        if (id !== undefined) return (await apps.find({ id }))?.id;
        return client_id === undefined ? undefined : (await apps.find({ client_id }))?.id;
      },
      findInstallationApp: (id) => apps.findInstallationApp(id),
      ping: (hook) => this.#ping(hook),
      onUrlChanged: async (hook) => {
        if (config.ping_on_url_change) await this.#ping(hook);
      },
    };
  }

  #appCommitted(appId: number, what: 'created' | 'changed' | 'deleted'): void {
    const hook = this.#hooks.get(appId);
    if (hook === undefined || what === 'deleted') return;
    if (what === 'changed') this.#engine.noteDue(appId, 0);
    else if (hook.url !== '' && hook.active) {
      this.#ping(hook).catch((err: unknown) =>
        this.#deps.log.error({ err, app: appId }, 'cannot send a ping'),
      );
    }
  }

  /** @returns the event's GUID. */
  async #ping(hook: Hook): Promise<string | undefined> {
    const apiUrl = `${this.#deps.publicUrl ?? this.#deps.localUrl}/api/v3`;
    const payload = pingPayload(hook, { apiUrl, chance: this.#deps.random.float() });
    const outcome = await this.#publisher.publish({
      event: 'ping',
      action: undefined,
      payload: payloadOf(payload),
      installation_id: undefined,
      repository_id: undefined,
      appIds: [hook.appId],
      idempotencyKey: undefined,
      orderingKey: undefined,
      deliverAtMs: undefined,
    });
    return 'response' in outcome ? outcome.response.guid : undefined;
  }

  async #disable(hook: Hook, why: string): Promise<void> {
    const { appId } = hook;
    await this.#hooks.disable(appId, why);
    if (!this.#deps.config.internal_events_enabled) return;
    await this.#deps.store.transaction(async (tx) => {
      const payload = { hook: { id: hook.id, app_id: appId, active: false }, reason: why };
      await this.#deps.outbox.publish(tx, { type: 'webhook.disabled', payload });
    });
  }
}

function engineSettings({ config, version, publicUrl, localUrl }: WebhooksDeps) {
  const build = createHash('sha1').update(version).digest('hex').slice(0, 7);
  return {
    isWorker: config.worker,
    maxInflight: config.concurrency_node,
    maxInflightPerApp: config.concurrency_app,
    maxInflightPerHost: config.concurrency_host,
    ratePerApp: config.rate_app,
    ratePerHost: config.rate_host,
    hasBreaker: config.breaker_enabled,
    retry: retryOf(config),
    disablesOnGone: config.disable_on_gone,
    disableAfterMs:
      config.disable_after_hours === 0 ? undefined : config.disable_after_hours * 3_600_000,
    maxQueuedPerApp: config.max_queued_per_app,
    request: {
      vendorName: config.vendor_name,
      userAgent: `${config.vendor_name}-Hookshot/${build}`,
      legacySha1: config.legacy_sha1,
      enterprise: config.enterprise_headers
        ? { host: new URL(publicUrl ?? localUrl).host, version }
        : undefined,
    },
  };
}

function retryOf({ retry_policy, retry_schedule }: WebhooksConfig): RetryPolicy {
  return retry_policy === 'schedule'
    ? { policy: 'schedule', schedule: retry_schedule }
    : { policy: retry_policy };
}
