import type { Clock } from '@plinth/kernel';
import { canonicalJson } from '../../model/merge-fields.js';
import { tenantKey } from '../../model/platform/tenant.js';
import { AccountsRefused } from '../../model/violation.js';
import { WriteSet } from '../../storage/commit-queue.js';
import type { Encryptor } from '../../storage/encryptor.js';
import type { IdempotencyStore } from '../../storage/idempotency-store.js';
import type { AccountMetrics } from '../metrics/account-metrics.js';
import type { RequestContext } from '../request-context.js';
import type { KeyedLocks } from './keyed-locks.js';
import { type OptimisticCommits, tooManyUpdates } from './optimistic-commits.js';

/** Result of a successful request. */
export interface MutationOutcome {
  /** Response body, also sent to retries. */
  readonly body: string;
  readonly writes: WriteSet;
  /** The body contains a secret, so it is stored encrypted. */
  readonly isSecret?: boolean;
  /** Runs after the changes are durable and before the locks are released. */
  readonly afterCommit?: () => void;
}

export interface MutationCall {
  readonly context: RequestContext;
  /** Parsed body; part of the fingerprint. */
  readonly body: unknown;
  /** Requests with the same key count together against the platform's limit. */
  readonly concurrencyKey: string;
  /** Default: the update limit of one account. */
  readonly concurrencyLimit?: number;
  readonly lockKeys: readonly string[];
}

export interface MutationResponse {
  readonly body: string;
  /** Id of the request that produced this response; `undefined` for the current one. */
  readonly originalRequestId: string | undefined;
}

interface RecordKey {
  /** Id of the record, `<tenant>:<key>`. */
  readonly id: string;
  readonly fingerprint: string;
}

interface MutationsDeps {
  readonly clock: Clock;
  readonly commits: OptimisticCommits;
  readonly records: IdempotencyStore;
  readonly locks: KeyedLocks;
  readonly encryptor: Encryptor;
  readonly metrics: Pick<AccountMetrics, 'repeated'>;
}

/**
 * Checks the idempotency key and the concurrency limit of every change and commits it (steps 5, 6
 * and 19 of the check order). A retry receives the first response. The change, its idempotency
 * record, token and events become durable in one commit. Source: accounts, sections 5, 6 and 12.
 */
export class Mutations {
  readonly #deps: MutationsDeps;
  readonly #running = new Map<string, RecordKey>();
  readonly #counts = new Map<string, number>();

  constructor(deps: MutationsDeps) {
    this.#deps = deps;
  }

  /**
   * Runs a change. An existing idempotency record takes precedence over all other results. It is looked up in the
   * commit and before a refusal is returned, so a request with a new key, the usual case, does not need a separate
   * look-up. Throws `AccountsRefused`.
   * @param work throws before it has changed anything, or returns all its changes.
   */
  async run(call: MutationCall, work: () => Promise<MutationOutcome>): Promise<MutationResponse> {
    try {
      const response = await this.#run(call, work);
      if (response.originalRequestId !== undefined) this.#deps.metrics.repeated('replayed');
      return response;
    } catch (error) {
      this.#count(error);
      throw error;
    }
  }

  async #run(call: MutationCall, work: () => Promise<MutationOutcome>): Promise<MutationResponse> {
    const { context } = call;
    const record = this.#keyOf(call);
    this.#refuseWhileRunning(record);
    this.#running.set(record.id, record);
    try {
      return await this.#counted(call, () => this.#locked(call, record, work));
    } catch (error) {
      if (!(error instanceof AccountsRefused)) throw error;
      const earlier = await this.#earlierResponse(record);
      if (earlier !== undefined) return earlier;
      if (!isOverLimit(error)) await this.#keepFingerprint(context, record);
      throw error;
    } finally {
      this.#running.delete(record.id);
    }
  }

  /**
   * Records a request that was rejected for its shape before `run`, because its key can only be
   * reused with the same parameters. Keeps an existing record, and the key of a running request.
   * Source: accounts, section 5, rules 4 and 6.
   */
  async storeRefused(context: RequestContext, body: unknown): Promise<void> {
    const record = this.#keyOf({ context, body });
    if (!this.#running.has(record.id)) await this.#keepFingerprint(context, record);
  }

  /**
   * Runs `work` within the concurrency limit. Throws `account_rate_limit_exceeded` before `work`
   * starts.
   */
  async #counted<T>(call: MutationCall, work: () => Promise<T>): Promise<T> {
    const { context, concurrencyKey } = call;
    const { concurrencyLimit = context.settings.update_concurrency_limit } = call;
    const key = `${tenantKey(context.tenant)}:${concurrencyKey}`;
    const count = this.#counts.get(key) ?? 0;
    if (count >= concurrencyLimit) throw tooManyUpdates();
    this.#counts.set(key, count + 1);
    try {
      return await work();
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    }
  }

  async #locked(
    { context, lockKeys }: MutationCall,
    record: RecordKey,
    work: () => Promise<MutationOutcome>,
  ): Promise<MutationResponse> {
    const { locks, records, commits } = this.#deps;
    const prepare = async () => {
      const outcome = await work();
      const { body, writes, isSecret = false } = outcome;
      const response = { status: 200, body, requestId: context.requestId, isSecret };
      records.put(writes, { ...this.#recordOf(context, record), response });
      return { outcome, writes };
    };
    return await locks.with(lockKeys, async () => {
      const { outcome, result } = await commits.commit(lockKeys, prepare, record.id);
      // If the existing record has just expired, the look-up finds none.
      if (result === 'key_in_use') return (await this.#earlierResponse(record)) ?? refuseInUse();
      outcome.afterCommit?.();
      return { body: outcome.body, originalRequestId: undefined };
    });
  }

  /** Throws `idempotency_error` if the key was used with different parameters. */
  async #earlierResponse({ id, fingerprint }: RecordKey): Promise<MutationResponse | undefined> {
    const record = await this.#deps.records.find(id);
    if (record === undefined) return undefined;
    if (record.fingerprint !== fingerprint) throw keyReused();
    const { response } = record;
    return response && { body: response.body, originalRequestId: response.requestId };
  }

  /**
   * Stores the fingerprint of a rejected request, because its key can only be reused with the same
   * parameters. The response is computed again.
   */
  async #keepFingerprint(context: RequestContext, record: RecordKey): Promise<void> {
    const writes = new WriteSet();
    this.#deps.records.put(writes, { ...this.#recordOf(context, record), response: undefined });
    await this.#deps.commits.commit([], async () => ({ outcome: undefined, writes }), record.id);
  }

  #keyOf(call: Pick<MutationCall, 'context' | 'body'>): RecordKey {
    const { tenant, idempotencyKey } = call.context;
    return { id: `${tenantKey(tenant)}:${idempotencyKey}`, fingerprint: this.#fingerprint(call) };
  }

  #recordOf(context: RequestContext, { id, fingerprint }: RecordKey) {
    const { requestId } = context;
    return { id, fingerprint, requestId, createdMs: this.#deps.clock.nowMs() };
  }

  /** Returns a keyed hash, because bodies contain id numbers that could be found by brute force. */
  #fingerprint({ context, body }: Pick<MutationCall, 'context' | 'body'>): string {
    return this.#deps.encryptor.digest(`${context.method} ${context.path}\n${canonicalJson(body)}`);
  }

  #refuseWhileRunning({ id, fingerprint }: RecordKey): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    if (running.fingerprint !== fingerprint) throw keyReused();
    refuseInUse();
  }

  #count(error: unknown): void {
    const code = error instanceof AccountsRefused ? error.violation.code : undefined;
    if (code === REUSED) this.#deps.metrics.repeated('other_parameters');
    else if (code === IN_USE) this.#deps.metrics.repeated('in_use');
  }
}

const REUSED = 'idempotency_error';
const IN_USE = 'idempotency_key_in_use';

const keyReused = (): AccountsRefused =>
  new AccountsRefused({
    code: REUSED,
    message:
      'This idempotency key was used with other parameters; use a new key for another request.',
  });

function refuseInUse(): never {
  throw new AccountsRefused({
    code: IN_USE,
    message: 'A request with this idempotency key is still running; retry later.',
  });
}

const isOverLimit = ({ violation }: AccountsRefused): boolean =>
  violation.code === 'account_rate_limit_exceeded';
