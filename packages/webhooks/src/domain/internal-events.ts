import type { OutboxEvent } from '@plinth/kernel';
import type { HookRegistry } from './hook-registry.js';
import { payloadOf } from './payload/event-body.js';
import type { Publisher } from './publisher.js';

/** What the other services report, as `event.action`. Source: webhooks, section 8.2. */
export const INTERNAL_EVENT_TYPES: readonly string[] = [
  ...['created', 'updated', 'closed'].map((action) => `account.${action}`),
  ...['created', 'updated', 'deleted'].map((action) => `account_person.${action}`),
  ...['created', 'deleted'].flatMap((action) => [`database.${action}`, `table.${action}`]),
  ...['created', 'regenerated', 'revoked'].map((action) => `token.${action}`),
  ...['created', 'deleted', 'enabled', 'disabled', 'error'].map(
    (action) => `processing_trigger.${action}`,
  ),
  // One per publication with the list of its changes: an import may change a hundred thousand records.
  ...['published', 'imported', 'restored'].map((action) => `game_data.${action}`),
  ...['banned', 'unbanned'].map((action) => `rate_limit.${action}`),
  'webhook.disabled',
];

const SENDER = { login: 'plinth', id: 0, type: 'Bot' };

/** Hands events of the server itself to the apps that subscribed to them. */
export class InternalEvents {
  readonly #hooks: HookRegistry;
  readonly #publisher: Publisher;
  readonly #isShared: boolean;

  constructor(needs: {
    readonly hooks: HookRegistry;
    readonly publisher: Publisher;
    readonly isShared: boolean;
  }) {
    this.#isShared = needs.isShared;
    this.#hooks = needs.hooks;
    this.#publisher = needs.publisher;
  }

  /**
   * What apps want is decided by what is stored: of the nodes that share a store one is told of an event, and another may have
   * just answered for a webhook.
   */
  async catchUp(): Promise<void> {
    if (this.#isShared) await this.#hooks.refresh();
  }

  /** Whether any app would get an event of this type at the moment. */
  isWanted(type: string): boolean {
    const [event = type, action = ''] = type.split('.', 2);
    return this.#hooks.matching(event, action).length > 0;
  }

  /** May be called again for the same event: its id makes the second call harmless. */
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
      idempotencyKey: `internal ${id}`,
      orderingKey: undefined,
      deliverAtMs: undefined,
    });
    // Thrown, so that the outbox comes again.
    if ('refused' in outcome && outcome.refused.kind === 'queue_full') throw outcome.refused;
  }
}
