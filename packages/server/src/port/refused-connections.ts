import type { Clock, Logger, Metrics } from '@plinth/kernel';

/** Why a connection was closed before it was served. */
const REASONS = [
  /** All connections that the process can hold are open. */
  'server_limit',
  /** One address holds `server.max_connections_per_address`. */
  'address_limit',
  /** A trusted proxy sent no valid header of the PROXY protocol. */
  'proxy_header',
  /** A TLS handshake failed. */
  'tls_handshake',
  /** Plain text where the port speaks TLS. */
  'plain_text',
] as const;
export type RefusalReason = (typeof REASONS)[number];

/** Refusals of one reason have one line in the log within this time: they may be thousands a second. */
const LOG_INTERVAL_MS = 60_000;

interface Refusals {
  total: number;
  loggedTotal: number;
  loggedMs: number | undefined;
}

/** Counts refused connections by reason, and logs them at most once a minute for each reason. */
export class RefusedConnections {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Logger;
  readonly #byReason: Readonly<Record<RefusalReason, Refusals>>;

  constructor(needs: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly log: Logger;
    readonly metrics: Metrics;
  }) {
    this.#clock = needs.clock;
    this.#log = needs.log;
    const none = REASONS.map((reason) => [
      reason,
      { total: 0, loggedTotal: 0, loggedMs: undefined },
    ]);
    this.#byReason = Object.fromEntries(none) as Record<RefusalReason, Refusals>; // of all reasons
    needs.metrics.add({
      name: 'plinth_connections_refused_total',
      help: 'Connections that were closed before they were served, by reason.',
      type: 'counter',
      labels: ['reason'],
      samples: () =>
        REASONS.map((reason) => ({ labels: { reason }, value: this.#byReason[reason].total })),
    });
  }

  /** @param address of the other end, as far as it is known. */
  count(reason: RefusalReason, address?: string): void {
    const refusals = this.#byReason[reason];
    refusals.total += 1;
    const nowMs = this.#clock.monotonicMs();
    if (refusals.loggedMs !== undefined && nowMs - refusals.loggedMs < LOG_INTERVAL_MS) return;
    const count = refusals.total - refusals.loggedTotal;
    refusals.loggedMs = nowMs;
    refusals.loggedTotal = refusals.total;
    this.#log.warn({ reason, count, lastAddress: address }, 'connections refused');
  }
}
