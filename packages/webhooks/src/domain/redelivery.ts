import { type Clock, invalidField, ValidationFailed } from '@plinth/kernel';
import { webhookError } from '../errors.js';
import type { DeliveryFilter } from '../model/delivery.js';
import type { DeliveryStore } from '../storage/delivery-store.js';
import type { QueueStore } from '../storage/queue/queue-store.js';
import type { DeliveryEngine } from './delivery/delivery-engine.js';
import type { HookRegistry } from './hook-registry.js';

const WINDOW_MS = 60_000;
const MAX_PER_DELIVERY = 10;
const MAX_PER_APP = 1000;
const MAX_COUNTED = 100_000;
const REDRIVE_CHUNK = 500;

interface RedeliveryDeps {
  readonly deliveries: DeliveryStore;
  readonly queue: QueueStore;
  readonly hooks: HookRegistry;
  readonly engine: DeliveryEngine;
  readonly clock: Clock;
}

/**
 * Queues new attempts of events that were delivered before. Source: webhooks, sections 5.5 and 10.
 */
export class Redelivery {
  readonly #deps: RedeliveryDeps;
  readonly #counts = new RequestCounts();

  constructor(deps: RedeliveryDeps) {
    this.#deps = deps;
  }

  /** Resolves when the new attempt is durable. Throws `resource_missing` and `ValidationFailed`. */
  async request(appId: number, deliveryId: number): Promise<void> {
    const found = await this.#deps.deliveries.findEvent(appId, deliveryId);
    if (found === undefined) throw webhookError('resource_missing');
    const hook = this.#deps.hooks.get(appId);
    if (hook === undefined || hook.url === '') {
      throw new ValidationFailed([{ resource: 'Hook', field: 'url', code: 'missing_field' }]);
    }
    if (!hook.active) {
      const message = 'The webhook is not active';
      throw invalidField({ resource: 'Hook', field: 'active', message });
    }
    if (!found.hasPayload) {
      throw new ValidationFailed([
        { resource: 'HookDelivery', field: 'payload', code: 'unprocessable' },
      ]);
    }
    const nowMs = this.#deps.clock.nowMs();
    const isAllowed =
      this.#counts.add(`delivery ${appId} ${deliveryId}`, MAX_PER_DELIVERY, nowMs) &&
      this.#counts.add(`app ${appId}`, MAX_PER_APP, nowMs);
    if (!isAllowed) {
      const message = 'Too many redelivery requests';
      throw invalidField({ resource: 'HookDelivery', field: 'id', message });
    }
    await this.#add(appId, [found.guid]);
  }

  /** Returns dead items to the queue with a new retry schedule. @returns the number of items. */
  async redriveDead(appId: number, isDryRun: boolean): Promise<number> {
    if (isDryRun) return (await this.#deps.queue.counts.countByState(appId)).dead;
    const count = await this.#deps.queue.reviveDead(appId, this.#deps.clock.nowMs());
    this.#deps.engine.noteQueued(appId, count);
    this.#deps.engine.noteDue(appId, 0);
    return count;
  }

  /**
   * Queues one attempt for each event that has a matching record and no success since. @returns the
   * number of events.
   */
  async redriveMatching(appId: number, filter: DeliveryFilter, isDryRun: boolean): Promise<number> {
    // Bounds the scan, so that records added in the meantime are not redelivered.
    const toId = await this.#deps.deliveries.lastId(appId);
    let count = 0;
    let fromId = 0;
    for (;;) {
      const range = { fromId, toId };
      const found = await this.#deps.deliveries.findToRedrive(appId, filter, range, REDRIVE_CHUNK);
      if (!isDryRun && found.length > 0) {
        await this.#add(
          appId,
          found.map(({ guid }) => guid),
        );
      }
      count += found.length;
      const last = found.at(-1);
      if (found.length < REDRIVE_CHUNK || last === undefined) return count;
      fromId = last.id + 1;
    }
  }

  async #add(appId: number, guids: readonly string[]): Promise<void> {
    const nowMs = this.#deps.clock.nowMs();
    await this.#deps.queue.intake.addRedeliveries(
      guids.map((guid) => ({ appId, guid })),
      nowMs,
    );
    this.#deps.engine.noteQueued(appId, guids.length);
    this.#deps.engine.noteDue(appId, nowMs);
  }
}

/** Counts requests per name in a sliding window of one minute. */
class RequestCounts {
  readonly #times = new Map<string, number[]>();

  /** @returns false when the limit is reached; the rejected request does not count. */
  add(name: string, limit: number, nowMs: number): boolean {
    const times = (this.#times.get(name) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    if (times.length >= limit) return false;
    times.push(nowMs);
    this.#times.delete(name);
    this.#times.set(name, times);
    if (this.#times.size > MAX_COUNTED) {
      for (const oldest of this.#times.keys()) {
        this.#times.delete(oldest);
        break;
      }
    }
    return true;
  }
}
