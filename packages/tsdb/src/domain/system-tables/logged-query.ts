import type { Clock, Principal, RequestSpan } from '@plinth/kernel';
import type { Segment } from '../../storage/segments/segment.js';

/** Source: tsdb-http, "System tables and information_schema", phases of `queries`. */
export type QueryPhase =
  | 'received'
  | 'logically_planned'
  | 'execution_permit'
  | 'cancel'
  | 'success'
  | 'fail';

export type QueryOutcome = Extract<QueryPhase, 'cancel' | 'success' | 'fail'>;

/** What is told of a query apart from how it goes. */
export interface QueryFacts {
  readonly id: string;
  readonly language: string;
  readonly text: string;
  /** That the request names. */
  readonly database?: string | undefined;
  /** Of its request, where that is traced. */
  readonly span?: RequestSpan | undefined;
  readonly owner: string;
  /** Whose token or user it needs for as long as it runs. */
  readonly principal?: Principal | undefined;
  readonly issueNs: bigint;
}

/**
 * The course of one query: each step is noted by the call of its name, in this order. Only `ended` may come at any
 * time; its first call counts.
 */
export class LoggedQuery {
  readonly facts: QueryFacts;
  readonly #clock: Clock;
  readonly #onEnded: (query: LoggedQuery) => void;
  /** Of the monotonic clock, like all times here. */
  readonly startMs: number;
  #phase: QueryPhase = 'received';
  #permitMs: number | undefined;
  #preparedMs: number | undefined;
  #endMs: number | undefined;
  /** Since when the client, not the engine, is waited for. */
  #handedOutMs: number | undefined;
  #clientMs = 0;
  #partitionCount: number | undefined;
  #fileCount: number | undefined;
  #cancel: (() => void) | undefined;
  #rowCount = 0;
  #reservedBytes = 0;
  #peakReservedBytes = 0;

  /** @param onEnded called once, after the end is noted */
  constructor(facts: QueryFacts, clock: Clock, onEnded: (query: LoggedQuery) => void = () => {}) {
    this.facts = facts;
    this.#onEnded = onEnded;
    this.#clock = clock;
    this.startMs = clock.monotonicMs();
  }

  /** What ends it before its time. */
  endsBy(cancel: () => void): void {
    this.#cancel = cancel;
  }

  /** Asks it to end; its client is told that it was cancelled. Nothing happens to one that has ended. */
  cancel(): void {
    this.#cancel?.();
  }

  /** It has a slot among the queries that run at the same time. */
  permitted(): void {
    this.#permitMs = this.#clock.monotonicMs();
  }

  planned(): void {
    this.#phase = 'logically_planned';
  }

  /** Its sources are pinned; the engine may begin. A query that reads by and by tells of each part. */
  prepared(segmentsOfScans: readonly (readonly Segment[])[]): void {
    this.#phase = 'execution_permit';
    this.#preparedMs = this.#clock.monotonicMs();
    this.#fileCount ??= 0;
    this.#partitionCount ??= 0;
    for (const segments of segmentsOfScans) {
      this.#fileCount += segments.length;
      this.#partitionCount += new Set(segments.map((segment) => segment.partitionStartNs)).size;
    }
  }

  /** So many more rows are handed to the encoder. */
  returned(rowCount: number): void {
    this.#rowCount += rowCount;
  }

  /** It holds so many more bytes of a memory budget; see `QueryOwner.reserved`. */
  reserved(sizeBytes: number): void {
    this.#reservedBytes += sizeBytes;
    this.#peakReservedBytes = Math.max(this.#peakReservedBytes, this.#reservedBytes);
  }

  /** A part of the answer has gone out, and the client has not asked for the next one yet. */
  handedOut(): void {
    this.#handedOutMs = this.#clock.monotonicMs();
  }

  askedForMore(): void {
    if (this.#handedOutMs === undefined) return;
    this.#clientMs += this.#clock.monotonicMs() - this.#handedOutMs;
    this.#handedOutMs = undefined;
  }

  ended(outcome: QueryOutcome): void {
    if (this.#endMs !== undefined) return;
    this.askedForMore();
    this.#endMs = this.#clock.monotonicMs();
    this.#phase = outcome;
    this.#cancel = undefined;
    this.#onEnded(this);
  }

  get phase(): QueryPhase {
    return this.#phase;
  }

  /** Since it came, until now or its end. */
  get ageMs(): number {
    return (this.#endMs ?? this.#clock.monotonicMs()) - this.startMs;
  }

  get isRunning(): boolean {
    return this.#endMs === undefined;
  }

  /** Ranges of time whose files were read, over all tables of the query. */
  get partitionCount(): number | undefined {
    return this.#partitionCount;
  }

  get fileCount(): number | undefined {
    return this.#fileCount;
  }

  /** Of all its statements, so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Estimated: what it reserved at one time for sorts, sorted rows and slices of its result. */
  get peakReservedBytes(): number {
    return this.#peakReservedBytes;
  }

  get permitMs(): number | undefined {
    return this.#permitMs;
  }

  get preparedMs(): number | undefined {
    return this.#preparedMs;
  }

  get endMs(): number | undefined {
    return this.#endMs;
  }

  get permitNs(): bigint | undefined {
    return nanosBetween(this.startMs, this.#permitMs);
  }

  get planNs(): bigint | undefined {
    return nanosBetween(this.#permitMs, this.#preparedMs);
  }

  get executeNs(): bigint | undefined {
    return nanosBetween(this.#preparedMs, this.#endMs);
  }

  get endToEndNs(): bigint | undefined {
    return nanosBetween(this.startMs, this.#endMs);
  }

  /** Execution without the time in which the client was waited for. */
  get computeNs(): bigint | undefined {
    if (this.#endMs === undefined) return undefined;
    return nanosBetween(this.#preparedMs, this.#endMs - this.#clientMs);
  }
}

function nanosBetween(startMs: number | undefined, endMs: number | undefined): bigint | undefined {
  if (startMs === undefined || endMs === undefined) return undefined;
  return BigInt(Math.round((endMs - startMs) * 1e6));
}
