import type { Clock, EgressSender, Outcome, OutgoingRequest } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { TrinoEndpoint } from './trino-endpoint.js';
import { parsePage, type TrinoError, type TrinoPage, toQueryError } from './trino-page.js';

/** Maximum size of a page. Trino's pages have about 1 MB, unless a single row is larger. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** Maximum time until Trino accepts a statement or its cancellation. */
const START_TIMEOUT_MS = 4500;
/** Trino responds after a second, even if it has no rows yet. */
export const PAGE_TIMEOUT_MS = 15_000;
/** Time for which an interrupted connection to Trino is retried. */
const OUTAGE_MS = 30_000;
const RETRY_MS = 100;
/** Pause after a page without rows. */
const EMPTY_PAGE_MS = 10;

const NO_BODY = new Uint8Array(0);
/** Source: Trino documentation, "Client protocol", "Overview of query processing". */
const RETRIED_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Runs statements on a Trino coordinator. */
export class TrinoClient {
  readonly #endpoint: TrinoEndpoint;
  readonly #sender: Pick<EgressSender, 'send' | 'close'>;
  readonly #clock: Clock;
  readonly #onError: (error: TrinoError) => void;
  readonly #cancellations = new Set<Promise<unknown>>();

  constructor(
    endpoint: TrinoEndpoint,
    deps: {
      readonly sender: Pick<EgressSender, 'send' | 'close'>;
      readonly clock: Clock;
      /** Called with each error of a statement; clients do not receive all details. */
      readonly onError: (error: TrinoError) => void;
    },
  ) {
    this.#endpoint = endpoint;
    this.#sender = deps.sender;
    this.#clock = deps.clock;
    this.#onError = deps.onError;
  }

  /** Throws `trino_unavailable` if the coordinator does not respond. */
  async check(): Promise<void> {
    const url = `${this.#endpoint.origin}/v1/info`;
    const outcome = await this.#send('GET', url, AbortSignal.timeout(START_TIMEOUT_MS));
    if (outcome.kind !== 'answered' || RETRIED_STATUS.has(outcome.statusCode))
      throw this.#unavailable(outcome);
  }

  /**
   * Yields the rows of a statement page by page. When the reader stops or the signal is aborted, the
   * query is canceled in Trino.
   */
  async *run(
    statement: string,
    options: { readonly columnCount: number; readonly signal: AbortSignal },
  ): AsyncGenerator<TrinoPage['rows'], void, undefined> {
    const { columnCount, signal } = options;
    let nextUri: string | undefined;
    const read = (body: Uint8Array): TrinoPage => {
      const page = parsePage(body, { columnCount, origin: this.#endpoint.origin });
      nextUri = page.nextUri;
      if (page.error !== undefined) {
        this.#onError(page.error);
        throw toQueryError(page.error);
      }
      return page;
    };
    try {
      let { rows } = read(await this.#start(statement));
      for (;;) {
        if (signal.aborted) throw endOfQuery(signal);
        if (rows.length > 0) yield rows;
        else if (nextUri !== undefined) await this.#pause(EMPTY_PAGE_MS, signal);
        if (nextUri === undefined) return;
        ({ rows } = read(await this.#nextPage(nextUri, signal)));
      }
    } finally {
      if (nextUri !== undefined) this.#cancel(nextUri);
    }
  }

  /** Resolves when running cancellations are sent. */
  async close(): Promise<void> {
    await Promise.all(this.#cancellations);
    this.#sender.close();
  }

  /** An aborted query is canceled later by its address, which only the response contains. */
  async #start(statement: string): Promise<Uint8Array> {
    const url = `${this.#endpoint.origin}/v1/statement`;
    const body = Buffer.from(statement);
    const outcome = await this.#send('POST', url, AbortSignal.timeout(START_TIMEOUT_MS), body);
    const page = bodyOf(outcome);
    if (page === undefined) throw this.#unavailable(outcome);
    return page;
  }

  async #nextPage(url: string, signal: AbortSignal): Promise<Uint8Array> {
    const startMs = this.#clock.monotonicMs();
    for (;;) {
      const outcome = await this.#send('GET', url, signal);
      if (signal.aborted) throw endOfQuery(signal);
      const page = bodyOf(outcome);
      if (page !== undefined) return page;
      const isFinal = outcome.kind === 'answered' && !RETRIED_STATUS.has(outcome.statusCode);
      if (isFinal || this.#clock.monotonicMs() - startMs > OUTAGE_MS)
        throw this.#unavailable(outcome);
      await this.#pause(RETRY_MS, signal);
    }
  }

  #cancel(url: string): void {
    const sending = this.#send('DELETE', url, AbortSignal.timeout(START_TIMEOUT_MS));
    this.#cancellations.add(sending);
    void sending.finally(() => this.#cancellations.delete(sending));
  }

  async #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(delayMs, signal).catch((error: unknown) => {
      throw signal.aborted ? endOfQuery(signal) : error;
    });
  }

  /** Never rejects. */
  #send(
    method: NonNullable<OutgoingRequest['method']>,
    url: string,
    signal: AbortSignal,
    body: Uint8Array = NO_BODY,
  ): Promise<Outcome> {
    const { headers } = this.#endpoint;
    return this.#sender.send({ method, url: new URL(url), headers, body }, { signal });
  }

  #unavailable(outcome: Outcome): TsdbError {
    const url = this.#endpoint.origin;
    if (outcome.kind !== 'answered') {
      const why = outcome.kind === 'timed_out' ? 'no response in time' : outcome.error;
      return tsdbError('trino_unavailable', { url, why });
    }
    if (outcome.statusCode === 200)
      return tsdbError('query_failed', `Trino: a page exceeds ${MAX_PAGE_BYTES} bytes`);
    return tsdbError('trino_unavailable', { url, why: `it returned ${outcome.statusCode}` });
  }
}

const bodyOf = (outcome: Outcome): Uint8Array | undefined =>
  outcome.kind === 'answered' && outcome.statusCode === 200 && !outcome.isTruncated
    ? outcome.body
    : undefined;
