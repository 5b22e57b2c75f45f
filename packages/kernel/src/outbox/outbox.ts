import type { Transaction } from 'kysely';

/** An event as published. */
export interface NewEvent {
  readonly type: string;
  readonly payload: unknown;
}

export interface OutboxEvent {
  /** Stable over redeliveries. */
  readonly id: string;
  /** For example `account.created`. */
  readonly type: string;
  readonly createdMs: number;
  readonly payload: unknown;
}

/** Events that are written in the publisher's transaction and delivered at least once, in order of publication. */
export interface Outbox {
  /** Publishes 1 to 1,000 events in this order, in one statement. */
  publish<DB>(tx: Transaction<DB>, ...events: readonly NewEvent[]): Promise<void>;
  /** `name` identifies the subscriber across restarts. An event whose handler throws is delivered again later. */
  subscribe(
    name: string,
    types: readonly string[],
    handle: (event: OutboxEvent) => Promise<void>,
  ): void;
}

/**
 * Reports a change in the transaction that makes it, so that the event exists if and only if the change does. If
 * events are in another store, the event is published after the commit, and is lost when the process stops in
 * between.
 */
export type ReportEvent = <DB>(
  tx: Transaction<DB>,
  ...events: readonly NewEvent[]
) => Promise<void>;
