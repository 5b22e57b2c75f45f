import type { AttemptRecord } from '../../model/delivery.js';
import type { QueueItem, QueueState, StoredEvent } from '../../model/event.js';
import type { EncodedPayload } from './payload-codec.js';

export interface NewEvent {
  readonly event: StoredEvent;
  readonly encoded: EncodedPayload;
  readonly dueMs: number;
  readonly orderingKey: string | undefined;
  readonly targets: readonly NewTarget[];
  readonly idempotency: Idempotency | undefined;
}

export interface NewTarget {
  readonly appId: number;
  /** Whether events of this app with the same key are delivered one after another. */
  readonly isOrdered: boolean;
  /** Whether this node leases the item immediately. */
  readonly isLeased: boolean;
}

export interface Idempotency {
  readonly key: string;
  readonly bodyHash: string;
  /** Response to the first request, as JSON. */
  readonly response: string;
}

export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly items: readonly AcceptedItem[] }
  | { readonly kind: 'duplicate'; readonly response: string }
  | { readonly kind: 'conflict' };

export interface AcceptedItem {
  readonly item: QueueItem;
  readonly state: QueueState;
}

export interface FinishedAttempt {
  readonly item: QueueItem;
  readonly record: AttemptRecord;
  readonly next:
    | { readonly kind: 'done' }
    | { readonly kind: 'dead' }
    | { readonly kind: 'retry'; readonly dueMs: number };
}

/** A claim for items of one app. */
export interface ClaimRequest {
  readonly appId: number;
  readonly limit: number;
}
