import type { Clock, Principal, Random, RequestSpan } from '@plinth/kernel';
import { withoutPasswords, withoutPasswordsInSql } from '../../model/without-passwords.js';
import type { DatabaseAccess } from '../catalog/access/database-access.js';
import { LoggedQuery } from './logged-query.js';

/** Longer texts are cut: the log must not hold on to megabytes per query. */
export const MAX_LOGGED_TEXT_LENGTH = 10_000;

/** The last queries of this node, running ones included; the oldest makes room for the next. */
export class QueryLog {
  readonly #maxEntryCount: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onEnded: (query: LoggedQuery) => void;
  readonly #currentSpan: (() => RequestSpan | undefined) | undefined;
  readonly #ring: LoggedQuery[] = [];
  readonly #running = new Set<LoggedQuery>();
  /** Where the next entry goes once the ring is full: the oldest one. */
  #nextIndex = 0;

  constructor(options: {
    readonly maxEntryCount: number;
    readonly clock: Clock;
    readonly random: Random;
    readonly onEnded?: (query: LoggedQuery) => void;
    /** Of the request that a query begins for; absent: none is traced. */
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
    /** Whose it is. */
    readonly owner: string;
    readonly principal?: Principal | undefined;
    /** Noted nowhere. */
    readonly isOwn?: boolean;
  }): LoggedQuery {
    const entry = new LoggedQuery(
      {
        id: this.#random.uuidV4(),
        language: query.language,
        text: (query.language === 'influxql' ? withoutPasswords : withoutPasswordsInSql)(
          cut(query.text),
        ),
        database: query.database,
        span: query.isOwn ? undefined : this.#currentSpan?.(),
        owner: query.owner,
        principal: query.principal,
        issueNs: this.#clock.nowNs(),
      },
      this.#clock,
      query.isOwn
        ? undefined
        : (ended) => {
            this.#running.delete(ended);
            this.#onEnded(ended);
          },
    );
    if (query.isOwn) return entry;
    this.#running.add(entry);
    this.#ring[this.#nextIndex] = entry;
    this.#nextIndex = (this.#nextIndex + 1) % this.#maxEntryCount;
    return entry;
  }

  /** Those that somebody may see: their own, unless it is an administrator. */
  entriesFor({ isAdministrator, owner }: DatabaseAccess): readonly LoggedQuery[] {
    const all = this.entries();
    return isAdministrator ? all : all.filter(({ facts }) => facts.owner === owner);
  }

  /** Cancels running queries of principals whose token or user is gone. */
  cancelRevoked(isCurrent: (principal: Principal) => boolean): void {
    for (const query of this.#running) {
      const { principal } = query.facts;
      if (principal !== undefined && !isCurrent(principal)) query.cancel();
    }
  }

  /** Oldest first. */
  entries(): readonly LoggedQuery[] {
    return [...this.#ring.slice(this.#nextIndex), ...this.#ring.slice(0, this.#nextIndex)];
  }
}

/** A copy: a part of a string would keep the whole in memory. */
function cut(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT_LENGTH) return text;
  return Buffer.from(text.slice(0, MAX_LOGGED_TEXT_LENGTH)).toString();
}
