import type { Clock, Principal, Random, RequestSpan } from '@plinth/kernel';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  withoutPasswords,
  withoutPasswordsInSql,
} from '@plinth/tsdb-model/text/without-passwords.js';
import { LoggedQuery } from './logged-query.js';

/** Longer query text is cut to limit the memory of the log. */
export const MAX_LOGGED_TEXT_LENGTH = 10_000;

/** The latest queries of this node, including running ones. A new entry replaces the oldest. */
export class QueryLog {
  readonly #maxEntryCount: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onEnded: (query: LoggedQuery) => void;
  readonly #currentSpan: (() => RequestSpan | undefined) | undefined;
  readonly #ring: LoggedQuery[] = [];
  readonly #running = new Set<LoggedQuery>();
  /** Index of the next entry to replace when the ring is full: the oldest entry. */
  #nextIndex = 0;

  constructor(options: {
    readonly maxEntryCount: number;
    readonly clock: Clock;
    readonly random: Random;
    readonly onEnded?: (query: LoggedQuery) => void;
    /** Returns the span of the current request; absent if tracing is off. */
    readonly currentSpan?: (() => RequestSpan | undefined) | undefined;
  }) {
    this.#maxEntryCount = options.maxEntryCount;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#currentSpan = options.currentSpan;
    this.#onEnded = options.onEnded ?? (() => {});
  }

  begin(query: {
    readonly language: string;
    readonly text: string;
    readonly database?: string | undefined;
    /** Identifies the owner; see `DatabaseAccess`. */
    readonly owner: string;
    readonly principal?: Principal | undefined;
    /** If true, the query is not recorded. */
    readonly isInternal?: boolean;
  }): LoggedQuery {
    const entry = new LoggedQuery(
      {
        id: this.#random.uuidV4(),
        language: query.language,
        text: (query.language === 'influxql' ? withoutPasswords : withoutPasswordsInSql)(
          cut(query.text),
        ),
        database: query.database,
        span: query.isInternal ? undefined : this.#currentSpan?.(),
        owner: query.owner,
        principal: query.principal,
        issueNs: this.#clock.nowNs(),
      },
      this.#clock,
      query.isInternal
        ? undefined
        : (ended) => {
            this.#running.delete(ended);
            this.#onEnded(ended);
          },
    );
    if (query.isInternal) return entry;
    this.#running.add(entry);
    this.#ring[this.#nextIndex] = entry;
    this.#nextIndex = (this.#nextIndex + 1) % this.#maxEntryCount;
    return entry;
  }

  /** Returns all queries for administrators. Other callers receive only their own. */
  entriesFor({ isAdministrator, owner }: DatabaseAccess): readonly LoggedQuery[] {
    const all = this.entries();
    return isAdministrator ? all : all.filter(({ properties }) => properties.owner === owner);
  }

  /** Cancels running queries of principals whose token or user was deleted or lost a permission. */
  cancelRevoked(isCurrent: (principal: Principal) => boolean): void {
    for (const query of this.#running) {
      const { principal } = query.properties;
      if (principal !== undefined && !isCurrent(principal))
        query.cancel(tsdbError('query_unauthorized'));
    }
  }

  /** Returns the entries, oldest first. */
  entries(): readonly LoggedQuery[] {
    return [...this.#ring.slice(this.#nextIndex), ...this.#ring.slice(0, this.#nextIndex)];
  }
}

/** Copies the text, because a substring would keep the complete string in memory. */
function cut(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT_LENGTH) return text;
  return Buffer.from(text.slice(0, MAX_LOGGED_TEXT_LENGTH)).toString();
}
