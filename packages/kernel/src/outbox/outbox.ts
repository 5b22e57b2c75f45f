import type { Transaction } from 'kysely';

/** What happened, as its publisher says it. */
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

/** Events written in the publisher's own transaction and handed to subscribers at least once, in order of publication. */
export interface Outbox {
  /** In this order; one to a thousand at a time, which one statement takes. */
  publish<DB>(tx: Transaction<DB>, ...events: readonly NewEvent[]): Promise<void>;
  /** `name` identifies the subscriber over restarts; a handler that throws gets the event again later. */
  subscribe(
    name: string,
    types: readonly string[],
    handle: (event: OutboxEvent) => Promise<void>,
  ): void;
}

/**
 * Tells of a change in the transaction that makes it, so that it is told of exactly when it happened. Where events are
 * kept in another store it follows by itself, and is lost with a process that ends in between.
 */
export type ReportEvent = <DB>(
  tx: Transaction<DB>,
  ...events: readonly NewEvent[]
) => Promise<void>;
