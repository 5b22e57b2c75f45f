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
  /** Name of this node among those that share the store, the same after a restart. */
  readonly node: string;
  readonly log: Logger;
  /** How long a relay with nothing to do waits before it looks again (another node may have ended before it had told of an event). */
  readonly pollMs?: number;
  /** Events are kept this long after everybody has had them. */
  readonly retentionMs?: number;
  /** After this time events are no longer kept for a subscriber that no node runs. */
  readonly forgetAfterMs?: number;
  /** Events were removed that a subscriber whom no node runs has not had. */
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
