import type { Clock } from '../clock/clock.js';
import type { Random } from '../clock/random.js';
import type { Leases } from '../lease/lease.js';
import type { Logger } from '../log/logger.js';
import type { RelationalStore } from '../relational/relational-store.js';
import type { OutboxEvent } from './outbox.js';

export interface OutboxOptions {
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly leases: Leases;
  /** The name of this node among the nodes that share the store. Stable across restarts. */
  readonly node: string;
  readonly log: Logger;
  /**
   * The interval at which an idle relay checks for events, because another node may have stopped before it sent a
   * notification.
   */
  readonly pollMs?: number;
  /** Time for which events are kept after all subscribers have received them. */
  readonly retentionMs?: number;
  /** Time after which events are removed even if a subscriber that no node runs has not received them. */
  readonly forgetAfterMs?: number;
  /** Called when events that an inactive subscriber has not received were removed. */
  readonly onSubscriberLeftBehind?: (left: {
    readonly subscriber: string;
    readonly lastSeenMs: number;
  }) => void;
  readonly onHandlerFailure: (failure: {
    readonly subscriber: string;
    readonly event: OutboxEvent;
    readonly attempt: number;
    readonly error: unknown;
  }) => void;
}
