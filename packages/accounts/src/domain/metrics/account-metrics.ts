import type { MetricSample, Metrics } from '@plinth/kernel';
import type { TokenKind } from '../../model/account/token.js';
import { CONFIGURATION_BITS } from '../../storage/account-codec.js';
import type { WriteSet } from '../../storage/commit-queue.js';
import type { AccountGroup, RowCounter } from '../../storage/row-counts.js';

const TOKEN_KINDS = ['account', 'person'] as const satisfies readonly TokenKind[];
/** `voided`: the account was closed before the token was used. */
const TOKEN_OUTCOMES = ['created', 'used', 'expired', 'voided'] as const;
const REPEATS = ['replayed', 'other_parameters', 'in_use'] as const;
type TokenOutcome = (typeof TOKEN_OUTCOMES)[number];
/** Outcome of a request with a known idempotency key. */
export type Repeat = (typeof REPEATS)[number];

/**
 * Metrics for operators. They count durable changes of this node, without labels for platforms and
 * accounts.
 */
export class AccountMetrics {
  readonly #tokens = new Map<string, number>();
  readonly #repeats = new Map<Repeat, number>();
  #eventCount = 0;

  committed(writes: WriteSet): void {
    this.#eventCount += writes.eventCount;
    for (const row of writes.rows.get('accounts_tokens') ?? []) {
      const { kind, used_ms, payload } = row as {
        kind: TokenKind;
        used_ms: number | null;
        payload: string | null;
      }; // rows of that table have this type
      this.#countToken(
        kind,
        used_ms !== null ? 'used' : payload === null ? 'voided' : 'created',
        1,
      );
    }
  }

  tokensExpired(kinds: readonly string[]): void {
    for (const kind of TOKEN_KINDS) {
      const count = kinds.filter((each) => each === kind).length;
      this.#countToken(kind, 'expired', count);
    }
  }

  repeated(how: Repeat): void {
    this.#repeats.set(how, (this.#repeats.get(how) ?? 0) + 1);
  }

  /** @param rows counts all stored rows, including those of other nodes. */
  register(metrics: Metrics, rows: RowCounter): void {
    metrics.add({
      name: 'accounts_tokens_total',
      help: 'Single-use tokens that were created, used, expired unused, or voided by closing their account.',
      type: 'counter',
      labels: ['kind', 'outcome'],
      samples: () =>
        TOKEN_KINDS.flatMap((kind) =>
          TOKEN_OUTCOMES.map((outcome) => ({
            labels: { kind, outcome },
            value: this.#tokens.get(`${kind} ${outcome}`) ?? 0,
          })),
        ),
    });
    metrics.add({
      name: 'accounts_repeated_requests_total',
      help: 'Requests with a known idempotency key: replayed, rejected because of different parameters, or rejected while the first request was running.',
      type: 'counter',
      labels: ['outcome'],
      samples: () =>
        REPEATS.map((outcome) => ({ labels: { outcome }, value: this.#repeats.get(outcome) ?? 0 })),
    });
    metrics.add({
      name: 'accounts_events_total',
      help: 'Events written to the store.',
      type: 'counter',
      samples: () => [{ value: this.#eventCount }],
    });
    const stored = (
      options: { readonly name: string; readonly help: string; readonly labels: readonly string[] },
      read: (counts: NonNullable<RowCounter['latest']>) => readonly MetricSample[],
    ): void =>
      metrics.add({
        ...options,
        type: 'gauge',
        samples: () => (rows.latest === undefined ? [] : read(rows.latest)),
      });
    stored(
      {
        name: 'accounts_accounts',
        help: 'Accounts in the store, counted at most once a minute.',
        labels: ['mode', 'state'],
      },
      ({ accounts }) =>
        MODES.flatMap(({ mode, isLive }) =>
          [false, true].map((isClosed) => ({
            labels: { mode, state: isClosed ? 'closed' : 'open' },
            value: sum(accounts, (one) => one.isLive === isLive && one.isClosed === isClosed),
          })),
        ),
    );
    stored(
      {
        name: 'accounts_configured',
        help: 'Open accounts that have a configuration, counted at most once a minute.',
        labels: ['mode', 'configuration'],
      },
      ({ accounts }) =>
        MODES.flatMap(({ mode, isLive }) =>
          Object.entries(CONFIGURATION_BITS).map(([configuration, bit]) => ({
            labels: { mode, configuration },
            value: sum(
              accounts,
              (one) => one.isLive === isLive && !one.isClosed && (one.configurations & bit) !== 0,
            ),
          })),
        ),
    );
    stored(
      {
        name: 'accounts_with_deadline',
        help: 'Accounts with a scheduled change of a requirement or status, counted at most once a minute.',
        labels: ['mode'],
      },
      ({ accounts }) =>
        MODES.map(({ mode, isLive }) => ({
          labels: { mode },
          value: accounts
            .filter((one) => one.isLive === isLive)
            .reduce((total, { datedCount }) => total + datedCount, 0),
        })),
    );
    stored(
      {
        name: 'accounts_persons',
        help: 'Persons in the store, counted at most once a minute.',
        labels: ['mode'],
      },
      ({ persons }) =>
        persons.map(({ isLive, count }) => ({
          labels: { mode: isLive ? 'live' : 'test' },
          value: count,
        })),
    );
  }

  #countToken(kind: TokenKind, outcome: TokenOutcome, count: number): void {
    const key = `${kind} ${outcome}`;
    this.#tokens.set(key, (this.#tokens.get(key) ?? 0) + count);
  }
}

const MODES = [
  { mode: 'test', isLive: false },
  { mode: 'live', isLive: true },
] as const;

const sum = (groups: readonly AccountGroup[], isWanted: (group: AccountGroup) => boolean): number =>
  groups.filter(isWanted).reduce((total, { count }) => total + count, 0);
