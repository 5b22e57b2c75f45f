import type { Clock, Logger, Metrics } from '@plinth/kernel';

/** Reasons for closing a connection before it is served. */
const REASONS = [
  /** The process has reached its limit of open connections. */
  'server_limit',
  /** The address has reached `server.max_connections_per_address`. */
  'address_limit',
  /** A trusted proxy sent no valid PROXY protocol header. */
  'proxy_header',
  /** A TLS handshake failed. */
  'tls_handshake',
  /** A plaintext connection on a TLS port. */
  'plain_text',
] as const;
export type RefusalReason = (typeof REASONS)[number];

/** Log interval per reason: refusals can reach thousands a second. */
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

  constructor(deps: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly log: Logger;
    readonly metrics: Metrics;
  }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    const none = REASONS.map((reason) => [
      reason,
      { total: 0, loggedTotal: 0, loggedMs: undefined },
    ]);
    this.#byReason = Object.fromEntries(none) as Record<RefusalReason, Refusals>; // Contains every reason.
    deps.metrics.add({
      name: 'plinth_connections_refused_total',
      help: 'Connections closed before they were served, by reason.',
      type: 'counter',
      labels: ['reason'],
      samples: () =>
        REASONS.map((reason) => ({ labels: { reason }, value: this.#byReason[reason].total })),
    });
  }

  /** @param address client address, if known. */
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
