import type { Clock } from '@plinth/kernel';
import { canonicalJson } from '../model/merge-fields.js';
import { tenantKey } from '../model/tenant.js';
import { AccountsRefused } from '../model/violation.js';
import type { CommitQueue, WriteSet } from '../storage/commit-queue.js';
import type { IdempotencyStore } from '../storage/idempotency-store.js';
import type { Sealer } from '../storage/sealer.js';
import type { KeyedLocks } from './keyed-locks.js';
import type { RequestContext } from './request-context.js';

/** What a successful request leaves behind. */
export interface MutationOutcome {
  /** The answer's body, as it is sent and as a repeat gets it. */
  readonly body: string;
  readonly writes: WriteSet;
  /** The body holds a secret, so it is kept sealed. */
  readonly isSecret?: boolean;
  /** Runs when the changes are durable and before the locks are free. */
  readonly afterCommit?: () => void;
}

export interface MutationCall {
  readonly context: RequestContext;
  /** As parsed; takes part in the fingerprint. */
  readonly body: unknown;
  /** Requests of one key are counted together against the platform's limit. */
  readonly concurrencyKey: string;
  readonly lockKeys: readonly string[];
}

export interface MutationAnswer {
  readonly body: string;
  /** Id of the request whose answer this is; `undefined` when it is this one's own. */
  readonly originalRequestId: string | undefined;
}

interface Running {
  readonly fingerprint: string;
}

/**
 * Steps 5, 6 and 19 of every request that changes something: a repeat gets the first answer, no more than so many run
 * at once, and the change, the record of its key, its token and its events become durable in one commit.
 * Source: accounts, sections 5, 6 and 12.
 */
export class Mutations {
  readonly #needs: {
    readonly clock: Clock;
    readonly commits: CommitQueue;
    readonly records: IdempotencyStore;
    readonly locks: KeyedLocks;
    readonly sealer: Sealer;
  };
  readonly #running = new Map<string, Running>();
  readonly #counts = new Map<string, number>();

  constructor(needs: {
    readonly clock: Clock;
    readonly commits: CommitQueue;
    readonly records: IdempotencyStore;
    readonly locks: KeyedLocks;
    readonly sealer: Sealer;
  }) {
    this.#needs = needs;
  }

  /** Throws `AccountsRefused`. @param work throws before it has changed anything, or returns all that it changes. */
  async run(call: MutationCall, work: () => Promise<MutationOutcome>): Promise<MutationAnswer> {
    const { context } = call;
    const recordId = `${tenantKey(context.tenant)}:${context.idempotencyKey}`;
    const fingerprint = this.#fingerprint(call);
    this.#refuseWhileRunning(recordId, fingerprint);
    this.#running.set(recordId, { fingerprint });
    try {
      const record = await this.#needs.records.find(recordId);
      if (record !== undefined && record.fingerprint !== fingerprint) throw keyReused();
      if (record?.answer !== undefined) {
        return { body: record.answer.body, originalRequestId: record.answer.requestId };
      }
      return await this.#countedRun(call, { recordId, fingerprint }, work);
    } finally {
      this.#running.delete(recordId);
    }
  }

  async #countedRun(
    call: MutationCall,
    record: { readonly recordId: string; readonly fingerprint: string },
    work: () => Promise<MutationOutcome>,
  ): Promise<MutationAnswer> {
    const { context } = call;
    const key = `${tenantKey(context.tenant)}:${call.concurrencyKey}`;
    const count = this.#counts.get(key) ?? 0;
    if (count >= context.settings.update_concurrency_limit) throw tooManyUpdates();
    this.#counts.set(key, count + 1);
    try {
      const body = await this.#needs.locks.with(call.lockKeys, async () => {
        const { body, writes, isSecret = false, afterCommit } = await work();
        this.#needs.records.put(writes, {
          ...this.#recordOf(context, record),
          answer: { status: 200, body, requestId: context.requestId, isSecret },
        });
        await this.#needs.commits.commit(writes);
        afterCommit?.();
        return body;
      });
      return { body, originalRequestId: undefined };
    } catch (error) {
      if (error instanceof AccountsRefused) await this.#keepFingerprint(context, record);
      throw error;
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    }
  }

  /** A refused request may be repeated with the same parameters only; its answer is made anew. */
  async #keepFingerprint(
    context: RequestContext,
    record: { readonly recordId: string; readonly fingerprint: string },
  ): Promise<void> {
    const writes = this.#needs.records.newWriteSet();
    this.#needs.records.put(writes, { ...this.#recordOf(context, record), answer: undefined });
    await this.#needs.commits.commit(writes);
  }

  #recordOf(
    context: RequestContext,
    { recordId, fingerprint }: { readonly recordId: string; readonly fingerprint: string },
  ) {
    return {
      id: recordId,
      fingerprint,
      requestId: context.requestId,
      createdMs: this.#needs.clock.nowMs(),
    };
  }

  /** Keyed, because bodies hold numbers of ids that could be found by trying. */
  #fingerprint({ context, body }: MutationCall): string {
    return this.#needs.sealer.digest(`${context.method} ${context.path}\n${canonicalJson(body)}`);
  }

  #refuseWhileRunning(recordId: string, fingerprint: string): void {
    const running = this.#running.get(recordId);
    if (running === undefined) return;
    if (running.fingerprint !== fingerprint) throw keyReused();
    throw new AccountsRefused({
      code: 'idempotency_key_in_use',
      message: 'A request with this idempotency key is still running; repeat it in a moment.',
    });
  }
}

const keyReused = (): AccountsRefused =>
  new AccountsRefused({
    code: 'idempotency_error',
    message:
      'This idempotency key was used for a request with other parameters; use another key for another request.',
  });

const tooManyUpdates = (): AccountsRefused =>
  new AccountsRefused({
    code: 'account_rate_limit_exceeded',
    message: 'Too many requests change this account at the same time; try again in a moment.',
  });
