import { type Clock, type Random, randomLetters, type TargetGuard } from '@plinth/kernel';
import { type EventBundle, eventObject } from '../../model/events/event.js';
import {
  destinationObject,
  type EventDestination,
  PING_TYPE,
  wantsEvent,
} from '../../model/events/event-destination.js';
import { IdGenerator } from '../../model/ids.js';
import { mergeFields } from '../../model/merge-fields.js';
import { type Tenant, tenantKey } from '../../model/platform/tenant.js';
import { MAX_METADATA_KEY_COUNT } from '../../model/shape/person-params.js';
import { timestamp } from '../../model/timestamps.js';
import { WriteSet } from '../../storage/commit-queue.js';
import type { DestinationStore } from '../../storage/destination-store.js';
import { pageOfList } from '../../storage/pages.js';
import { type ListRequest, readPage, toPage } from '../account/account-pages.js';
import type { AccountWriter } from '../change/account-writer.js';
import type { MutationOutcome, MutationResponse, Mutations } from '../change/mutations.js';
import { invalidFields, notFound } from '../refusals.js';
import type { RequestContext } from '../request-context.js';

/** Limit per platform and mode, because all destinations are in memory. */
const MAX_DESTINATION_COUNT = 16;
const MAX_LOAD_TRIES = 5;
const MAX_LISTED_ATTEMPT_COUNT = 100;

interface DestinationsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: DestinationStore;
  readonly mutations: Mutations;
  /** The same guard that deliveries use. */
  readonly targets: TargetGuard;
  /** Writes a ping event. */
  readonly putBundle: AccountWriter['putBundle'];
}

export interface DestinationFields {
  readonly name?: string;
  readonly description?: string | null;
  readonly enabled_events?: readonly string[];
  readonly metadata?: Readonly<Record<string, string | null>> | null;
  readonly webhook_endpoint?: { readonly url?: string };
}

export interface DestinationWrite {
  readonly body: unknown;
  readonly requestFields: DestinationFields;
  readonly include: readonly string[];
}

/** Event destinations of platforms. Source: accounts, section 17.3. */
export class EventDestinations {
  readonly #deps: DestinationsDeps;
  readonly #idGenerator: IdGenerator;
  readonly #byId = new Map<string, EventDestination>();
  #changeCount = 0;

  constructor(deps: DestinationsDeps) {
    this.#deps = deps;
    this.#idGenerator = new IdGenerator({ clock: deps.clock, random: deps.random, length: 24 });
  }

  /**
   * Loads the destinations. Call before any other method, and again to read changes of other nodes.
   */
  async load(): Promise<void> {
    for (let tries = 0; tries < MAX_LOAD_TRIES; tries++) {
      const changeCount = this.#changeCount;
      const all = await this.#deps.store.readAll();
      // The result is outdated if there was a local change in the meantime.
      if (changeCount !== this.#changeCount) continue;
      this.#byId.clear();
      for (const destination of all) this.#byId.set(destination.id, destination);
      return;
    }
  }

  async find(id: string): Promise<EventDestination | undefined> {
    if (!this.#byId.has(id)) await this.catchUp();
    return this.#byId.get(id);
  }

  /** Reloads destinations before a decision, because another node may have changed them. */
  async catchUp(): Promise<void> {
    if (this.#deps.store.isShared) await this.load();
  }

  get count(): number {
    return this.#byId.size;
  }

  listAll(tenant: Tenant): readonly EventDestination[] {
    const key = tenantKey(tenant);
    return [...this.#byId.values()].filter((each) => tenantKey(each.tenant) === key);
  }

  hasSubscriber({ tenant, events }: EventBundle): boolean {
    if (this.#byId.size === 0) return false;
    const destinations = this.listAll(tenant);
    return events.some(
      ({ type }) => type === PING_TYPE || destinations.some((each) => wantsEvent(each, type)),
    );
  }

  async create(context: RequestContext, write: DestinationWrite): Promise<MutationResponse> {
    const { tenant } = context;
    const key = `destinations:${tenantKey(tenant)}`;
    const call = { context, body: write.body, concurrencyKey: key, lockKeys: [key] };
    return await this.#deps.mutations.run(call, async () => {
      await this.catchUp();
      if (this.listAll(tenant).length >= MAX_DESTINATION_COUNT) {
        const message = `The limit of ${MAX_DESTINATION_COUNT} event destinations has been reached.`;
        throw invalidFields([{ field: '', code: 'out_of_range', message }]);
      }
      const { requestFields } = write;
      const url = requestFields.webhook_endpoint?.url ?? '';
      this.#refuseUrl(url, tenant);
      const { createdMs, letters } = this.#idGenerator.next();
      const destination: EventDestination = {
        id: `${tenant.livemode ? 'ed_' : 'ed_test_'}${letters}`,
        tenant,
        createdMs,
        updatedMs: createdMs,
        name: requestFields.name ?? '',
        description: requestFields.description ?? '',
        enabledEvents: requestFields.enabled_events ?? [],
        isEnabled: true,
        metadata: mergeFields<Record<string, string>>({}, requestFields.metadata),
        url,
        secret: `whsec_${randomLetters(this.#deps.random, 32)}`,
      };
      const shown = {
        url: write.include.includes('webhook_endpoint.url'),
        secret: write.include.includes('webhook_endpoint.signing_secret'),
      };
      return this.#written(destination, shown);
    });
  }

  async update(
    context: RequestContext,
    id: string,
    write: DestinationWrite,
  ): Promise<MutationResponse> {
    const include = { url: write.include.includes('webhook_endpoint.url'), secret: false };
    return await this.#change(context, id, write.body, async (before) => {
      const { name, description, enabled_events, metadata, webhook_endpoint } = write.requestFields;
      const url = webhook_endpoint?.url ?? before.url;
      // An unchanged URL is not checked again, so that other fields can still be changed.
      if (url !== before.url) this.#refuseUrl(url, before.tenant);
      const merged =
        metadata === null ? {} : mergeFields<Record<string, string>>(before.metadata, metadata);
      if (metadata) refuseMetadata(merged);
      const after: EventDestination = {
        ...before,
        url,
        name: name ?? before.name,
        description: description === undefined ? before.description : (description ?? ''),
        enabledEvents: enabled_events ?? before.enabledEvents,
        metadata: merged,
      };
      return this.#written(this.#updated(after), include);
    });
  }

  async setEnabled(
    context: RequestContext,
    id: string,
    isEnabled: boolean,
    body: unknown,
  ): Promise<MutationResponse> {
    return await this.#change(context, id, body, async (before) => {
      const after =
        before.isEnabled === isEnabled ? before : this.#updated({ ...before, isEnabled });
      return this.#written(after, { url: false, secret: false });
    });
  }

  /** Sends a test event only to this destination, even while it is disabled. */
  async ping(context: RequestContext, id: string, body: unknown): Promise<MutationResponse> {
    return await this.#change(context, id, body, async ({ tenant }) => {
      const writes = new WriteSet();
      const bundle = this.#deps.putBundle(writes, {
        tenant,
        subjectId: id,
        personId: undefined,
        request: { id: context.requestId, idempotency_key: context.idempotencyKey },
        events: [{ type: PING_TYPE, target: { kind: 'destination', id } }],
      });
      return { body: JSON.stringify(eventObject(bundle, 0)), writes };
    });
  }

  async delete(context: RequestContext, id: string): Promise<MutationResponse> {
    return await this.#change(context, id, {}, async () => ({
      body: JSON.stringify({ id, object: 'v2.core.event_destination' }),
      writes: new WriteSet().delete('accounts_destinations', id),
      afterCommit: () => {
        this.#changeCount += 1;
        this.#byId.delete(id);
      },
    }));
  }

  retrieve(context: RequestContext, id: string, include: readonly string[]): string {
    const url = include.includes('webhook_endpoint.url');
    return JSON.stringify(destinationObject(this.#get(context.tenant, id), { url, secret: false }));
  }

  list(context: RequestContext, request: ListRequest, include: readonly string[]): string {
    const query = readPage(request);
    const found = pageOfList(this.listAll(context.tenant), query);
    const { items, next_page_url, previous_page_url } = toPage(request, query, found);
    const url = include.includes('webhook_endpoint.url');
    const data = items.map((each) => destinationObject(each, { url, secret: false }));
    return JSON.stringify({ data, next_page_url, previous_page_url });
  }

  /** Returns the results of the last attempts for operators, in either mode, newest first. */
  async describeAttempts(platform: string, id: string): Promise<object> {
    await this.catchUp();
    if (this.#byId.get(id)?.tenant.platform !== platform) throw notFound('event destination', id);
    const records = await this.#deps.store.listAttempts(id, MAX_LISTED_ATTEMPT_COUNT);
    const data = records.map((record) => ({
      event: record.eventId,
      attempt: record.attempt,
      attempted: timestamp(record.attemptedMs),
      duration_ms: record.durationMs,
      outcome: record.outcome,
      status: record.status ?? null,
      error: record.error ?? null,
    }));
    return { data };
  }

  #get(tenant: Tenant, id: string): EventDestination {
    const found = this.#byId.get(id);
    if (found === undefined || tenantKey(found.tenant) !== tenantKey(tenant)) {
      throw notFound('event destination', id);
    }
    return found;
  }

  async #change(
    context: RequestContext,
    id: string,
    body: unknown,
    work: (before: EventDestination) => Promise<MutationOutcome>,
  ): Promise<MutationResponse> {
    const key = `destination:${id}`;
    const call = { context, body, concurrencyKey: key, lockKeys: [key] };
    return await this.#deps.mutations.run(call, async () => {
      await this.catchUp();
      return await work(this.#get(context.tenant, id));
    });
  }

  #updated(destination: EventDestination): EventDestination {
    const updatedMs = Math.max(this.#deps.clock.nowMs(), destination.updatedMs + 1);
    return { ...destination, updatedMs };
  }

  #written(
    destination: EventDestination,
    include: { readonly url: boolean; readonly secret: boolean },
  ): MutationOutcome {
    const writes = new WriteSet();
    this.#deps.store.put(writes, destination);
    return {
      body: JSON.stringify(destinationObject(destination, include)),
      writes,
      // The response is stored for retries of the request.
      isSecret: include.secret || include.url,
      afterCommit: () => this.#show(destination),
    };
  }

  /** Requires https in live mode, and rejects URLs that deliveries may not reach. */
  #refuseUrl(text: string, { livemode }: Tenant): void {
    const field = 'webhook_endpoint.url';
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isRight =
      url !== undefined &&
      (url.protocol === 'https:' || (url.protocol === 'http:' && !livemode)) &&
      url.username === '' &&
      url.password === '';
    if (!isRight) {
      const message = livemode
        ? `${field} must be an https URL.`
        : `${field} must be an http or https URL.`;
      throw invalidFields([{ field, code: 'bad_format', message }]);
    }
    if (this.#deps.targets.isUrlReachable(url)) return;
    const message = `${field} refers to an address that is not allowed.`;
    throw invalidFields([{ field, code: 'bad_format', message }]);
  }

  #show(destination: EventDestination): void {
    this.#changeCount += 1;
    this.#byId.set(destination.id, destination);
  }
}

function refuseMetadata(metadata: Readonly<Record<string, string>>): void {
  if (Object.keys(metadata).length <= MAX_METADATA_KEY_COUNT) return;
  const field = 'metadata';
  const message = `${field} would exceed the limit of ${MAX_METADATA_KEY_COUNT} keys.`;
  throw invalidFields([{ field, code: 'too_long', message }]);
}
