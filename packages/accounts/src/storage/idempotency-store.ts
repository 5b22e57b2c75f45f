import type { RelationalStore } from '@plinth/kernel';
import type { Kysely } from 'kysely';
import type { AccountTables } from './account-tables.js';
import type { WriteSet } from './commit-queue.js';
import type { Encryptor } from './encryptor.js';
import type { OldestRecordMs } from './oldest-record.js';

export interface IdempotencyRecord {
  /** The id has the form `<tenant>:<key>`. */
  readonly id: string;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly createdMs: number;
  /** `undefined` if every request with this key was refused so far. */
  readonly response:
    | {
        readonly status: number;
        readonly body: string;
        readonly requestId: string;
        readonly isSecret: boolean;
      }
    | undefined;
}

/** Responses by idempotency key. Source: accounts, section 5. */
export class IdempotencyStore {
  readonly #reader: Kysely<AccountTables>;
  readonly #encryptor: Encryptor;
  readonly #oldestMs: OldestRecordMs;

  constructor(deps: {
    readonly store: RelationalStore;
    readonly encryptor: Encryptor;
    readonly oldestMs: OldestRecordMs;
  }) {
    this.#reader = deps.store.reader<AccountTables>();
    this.#encryptor = deps.encryptor;
    this.#oldestMs = deps.oldestMs;
  }

  async find(id: string): Promise<IdempotencyRecord | undefined> {
    const row = await this.#reader
      .selectFrom('accounts_idempotency')
      .selectAll()
      .where('id', '=', id)
      .where('created_ms', '>=', this.#oldestMs())
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { status, body, request_id, is_sealed } = row;
    const isSecret = is_sealed === 1; // the stored name of `isSecret`
    const response =
      status === null || body === null
        ? undefined
        : {
            status,
            body: isSecret ? this.#encryptor.decrypt(body, id) : body,
            requestId: request_id,
            isSecret,
          };
    return {
      id,
      fingerprint: row.fingerprint,
      requestId: request_id,
      createdMs: Number(row.created_ms),
      response,
    };
  }

  put(
    writes: WriteSet,
    { id, fingerprint, requestId, createdMs, response }: IdempotencyRecord,
  ): void {
    const isSecret = response?.isSecret === true;
    writes.put('accounts_idempotency', {
      id,
      fingerprint,
      status: response?.status ?? null,
      request_id: requestId,
      body:
        response === undefined
          ? null
          : isSecret
            ? this.#encryptor.encrypt(response.body, id)
            : response.body,
      is_sealed: isSecret ? 1 : 0,
      created_ms: createdMs,
    });
  }
}
