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
  /** The name of this node among those that share the store; stable over restarts. */
  readonly node: string;
  readonly log: Logger;
  /** How long an idle relay waits before it checks again, as another node may have stopped before it sent a notification. */
  readonly pollMs?: number;
  /** How long events are kept after all subscribers have received them. */
  readonly retentionMs?: number;
  /** After this time, events are not kept any more for a subscriber that no node runs. */
  readonly forgetAfterMs?: number;
  /** Called when events were removed that an inactive subscriber has not received. */
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
