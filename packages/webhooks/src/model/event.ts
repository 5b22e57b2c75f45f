/** The stored and sent form of an event. */
export interface StoredEvent {
  readonly guid: string;
  readonly event: string;
  readonly action: string | undefined;
  readonly installation_id: number | undefined;
  readonly repository_id: number | undefined;
  /** Compact JSON in UTF-8; every attempt sends these bytes. */
  readonly payload: Uint8Array;
  readonly acceptedMs: number;
}

/** One queue item: an event to be delivered to one app. */
export interface QueueItem {
  readonly id: number;
  /**
   * Name under which a node leases the item; in a new item, the name of the node that stored it. `undefined` if the item was
   * read while no node leased it. A node gets a new name after it has lost its leases.
   */
  readonly leaseHolder: string | undefined;
  readonly appId: number;
  readonly guid: string;
  /**
   * `redelivery` if a client requested the item or it was revived from the dead items. Retries keep the
   * kind of their item.
   */
  readonly kind: 'first' | 'redelivery';
  /** Number of the attempt, starting at 1. */
  readonly attemptNo: number;
  readonly dueMs: number;
  readonly orderingKey: string | undefined;
  /** Time since which limits of this server delayed the attempts. */
  readonly throttledSinceMs: number | undefined;
  readonly event: string;
  readonly action: string | undefined;
  readonly installation_id: number | undefined;
  readonly repository_id: number | undefined;
  /** Undefined if it must be read from the store before the attempt. */
  payload: Uint8Array | undefined;
}

/**
 * `held` items wait for an earlier item with the same ordering key, and `leased` ones are delivered
 * by the node that leased them. All retries of `dead` items failed.
 */
export type QueueState = 'pending' | 'held' | 'leased' | 'dead';

/** True for redeliveries and for retries: the API returns `redelivery: true` for both. */
export const isRetryOrRedelivery = (item: Pick<QueueItem, 'kind' | 'attemptNo'>): boolean =>
  item.kind === 'redelivery' || item.attemptNo > 1;
