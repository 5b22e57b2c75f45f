import type { OutboxEvent } from '@plinth/kernel';
import type { HookRegistry } from './hook-registry.js';
import { payloadOf } from './payload/event-body.js';
import type { EventResponse, Publisher } from './publisher.js';

/** Events of the other services, as `event.action`. Source: webhooks, section 8.2. */
export const INTERNAL_EVENT_TYPES: readonly string[] = [
  ...['created', 'updated', 'closed'].map((action) => `account.${action}`),
  ...['created', 'updated', 'deleted'].map((action) => `account_person.${action}`),
  ...['created', 'deleted'].flatMap((action) => [`database.${action}`, `table.${action}`]),
  ...['created', 'regenerated', 'revoked'].map((action) => `token.${action}`),
  ...['created', 'deleted', 'enabled', 'disabled', 'error'].map(
    (action) => `processing_trigger.${action}`,
  ),
  // One event per publication with the list of its changes, because an import may change 100,000
  // records.
  ...['published', 'imported', 'restored'].map((action) => `game_data.${action}`),
  ...['banned', 'unbanned'].map((action) => `rate_limit.${action}`),
  'webhook.disabled',
];

const SENDER = { login: 'plinth', id: 0, type: 'Bot' };

const keyOf = (id: string): string => `internal ${id}`;

/** Publishes the server's own events to the apps that subscribed to them. */
export class InternalEvents {
  readonly #hooks: HookRegistry;
  readonly #publisher: Publisher;
  readonly #isShared: boolean;

  constructor(deps: {
    readonly hooks: HookRegistry;
    readonly publisher: Publisher;
    readonly isShared: boolean;
  }) {
    this.#isShared = deps.isShared;
    this.#hooks = deps.hooks;
    this.#publisher = deps.publisher;
  }

  /**
   * Reloads the webhooks from the shared store. Only one node receives an event, and another node
   * may have just created a webhook.
   */
  async catchUp(): Promise<void> {
    if (this.#isShared) await this.#hooks.refresh();
  }

  /** Whether at least one app is subscribed to this event type. */
  isWanted(type: string): boolean {
    const [event = type, action = ''] = type.split('.', 2);
    return this.#hooks.matching(event, action).length > 0;
  }

  /**
   * Returns how events of other services were published within the last day. Other events are
   * omitted.
   */
  async published(
    ids: readonly string[],
  ): Promise<readonly (Pick<EventResponse, 'guid' | 'targets'> & { readonly id: string })[]> {
    const found = await this.#publisher.published(ids.map(keyOf));
    return ids.flatMap((id) => {
      const response = found.get(keyOf(id));
      return response === undefined ? [] : [{ id, guid: response.guid, targets: response.targets }];
    });
  }

  /**
   * Publishes an outbox event. Repeated calls have no effect, because the event id is part of the
   * idempotency key.
   */
  async handle({ id, type, createdMs, payload }: OutboxEvent): Promise<void> {
    const [event = type, action = ''] = type.split('.', 2);
    await this.catchUp();
    if (!this.isWanted(type)) return;
    const members = typeof payload === 'object' && payload !== null ? payload : { data: payload };
    const whole = { action, sender: SENDER, occurred_at: createdMs, ...members };
    const outcome = await this.#publisher.publish({
      event,
      action,
      payload: payloadOf(whole),
      installation_id: undefined,
      repository_id: undefined,
      appIds: undefined,
      idempotencyKey: keyOf(id),
      orderingKey: undefined,
      deliverAtMs: undefined,
    });
    // Throwing makes the outbox retry the event.
    if ('refused' in outcome && outcome.refused.kind === 'queue_full') throw outcome.refused;
  }
}
