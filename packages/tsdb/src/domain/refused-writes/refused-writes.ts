import type { Clock, Logger, Metrics, Principal } from '@plinth/kernel';
import type { WriteOutcome, WriteRequest } from '@plinth/tsdb-model/engine.js';
import { REFUSAL_REASONS, type RefusedLine } from '@plinth/tsdb-model/refused-line.js';

const PROTOCOLS = ['line_protocol', 'remote_write', 'opentelemetry'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** `not_partial`: the row was valid, but another row was not, and the request does not allow partial writes. */
const REASONS = [...REFUSAL_REASONS, 'not_partial'] as const;
type Reason = (typeof REASONS)[number];

/** Number of rows that the table keeps; each has at most 2 KiB of text. */
const MAX_ENTRIES = 1000;
const MAX_MESSAGE_LENGTH = 1000;
/** Log interval per protocol and reason: a faulty sender repeats its rows every few seconds. */
const LOG_INTERVAL_MS = 60_000;

/** A row that was not written. */
export interface RefusedRow extends Omit<RefusedLine, 'originalLine'> {
  readonly timeNs: bigint;
  readonly database: string;
  readonly protocol: Protocol;
  /** The line, or the series of another protocol. */
  readonly line: string;
  /** Name of the token or user, or `plugin`. */
  readonly sender: string | undefined;
  /** Client address; absent for writes of the server itself. */
  readonly address: string | undefined;
}

interface Count {
  total: number;
  loggedTotal: number;
  loggedMs: number | undefined;
}

/**
 * Refused rows of all write paths: counts by protocol and reason, one log line per minute for each of them, and the
 * latest rows for `system.refused_writes`.
 */
export class RefusedWrites {
  readonly #clock: Pick<Clock, 'nowNs' | 'monotonicMs'>;
  readonly #log: Logger;
  readonly #counts = new Map<string, Count>();
  #ring: RefusedRow[] = [];
  /** Index of the oldest entry when the ring is full. */
  #nextIndex = 0;

  constructor(deps: {
    readonly clock: Pick<Clock, 'nowNs' | 'monotonicMs'>;
    readonly log: Logger;
    readonly metrics: Metrics;
  }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    deps.metrics.add({
      name: 'plinth_tsdb_refused_rows_total',
      help: 'Rows rejected in write requests, by protocol and reason.',
      type: 'counter',
      labels: ['protocol', 'reason'],
      samples: () =>
        PROTOCOLS.flatMap((protocol) =>
          REASONS.map((reason) => ({
            labels: { protocol, reason },
            value: this.#counts.get(`${protocol} ${reason}`)?.total ?? 0,
          })),
        ),
    });
  }

  /** Removes the rows of other databases, so that a new database with the same name does not show them. */
  keepOnly(isActive: (database: string) => boolean): void {
    this.#ring = this.entries().filter(({ database }) => isActive(database));
    this.#nextIndex = this.#ring.length % MAX_ENTRIES;
  }

  /** Oldest first. */
  entries(): readonly RefusedRow[] {
    return [...this.#ring.slice(this.#nextIndex), ...this.#ring.slice(0, this.#nextIndex)];
  }

  note(
    request: Pick<
      WriteRequest,
      'database' | 'format' | 'access' | 'pluginDepth' | 'clientAddress' | 'acceptPartial'
    >,
    { refused, lineCount, writtenCount }: WriteOutcome,
  ): void {
    const protocol = protocolOf(request.format);
    const at = {
      timeNs: this.#clock.nowNs(),
      database: request.database,
      protocol,
      sender: request.pluginDepth === undefined ? nameOf(request.access.principal) : 'plugin',
      address: request.clientAddress,
    };
    const counts = new Map<Reason, { count: number; first: RefusedLine | undefined }>();
    const add = (reason: Reason, count: number, first?: RefusedLine): void => {
      const known = counts.get(reason);
      if (known === undefined) counts.set(reason, { count, first });
      else known.count += count;
    };
    for (const line of refused) {
      add(line.reason, 1, line);
      const { originalLine, message, ...facts } = line;
      this.#keep({ ...facts, ...at, line: originalLine, message: truncated(message) });
    }
    // The request reports details only of the first refused rows.
    const rest = lineCount - writtenCount - refused.length;
    if (rest > 0)
      add(request.acceptPartial ? (refused.at(-1)?.reason ?? 'syntax') : 'not_partial', rest);
    for (const [reason, { count, first }] of counts) {
      const example = first && {
        lineNumber: first.lineNumber,
        message: truncated(first.message),
      };
      this.#count({ protocol, reason, count }, { ...at, ...example });
    }
  }

  #keep(row: RefusedRow): void {
    this.#ring[this.#nextIndex] = row;
    this.#nextIndex = (this.#nextIndex + 1) % MAX_ENTRIES;
  }

  #count(
    { protocol, reason, count }: { protocol: Protocol; reason: Reason; count: number },
    { timeNs: _, ...example }: object & { readonly timeNs: bigint },
  ): void {
    const key = `${protocol} ${reason}`;
    const known = this.#counts.get(key) ?? { total: 0, loggedTotal: 0, loggedMs: undefined };
    this.#counts.set(key, known);
    known.total += count;
    const nowMs = this.#clock.monotonicMs();
    if (known.loggedMs !== undefined && nowMs - known.loggedMs < LOG_INTERVAL_MS) return;
    const rowCount = known.total - known.loggedTotal;
    known.loggedMs = nowMs;
    known.loggedTotal = known.total;
    this.#log.info({ reason, rowCount, ...example }, 'rows refused');
  }
}

/** Copies the start of a long message, because a slice would keep all of it in memory. */
const truncated = (message: string): string =>
  message.length <= MAX_MESSAGE_LENGTH
    ? message
    : Buffer.from(message.slice(0, MAX_MESSAGE_LENGTH)).toString();

function protocolOf(format: WriteRequest['format']): Protocol {
  if (format === undefined) return 'line_protocol';
  return format.startsWith('otlp') ? 'opentelemetry' : 'remote_write';
}

function nameOf(principal: Principal | undefined): string | undefined {
  if (principal?.kind === 'admin') return principal.tokenName;
  return principal?.kind === 'grantee' ? principal.name : undefined;
}
