import { dirname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Kysely, sql, type Transaction } from 'kysely';
import type { Clock } from '../../clock/clock.js';
import type { LogLoss } from '../../commit-log/log-loss.js';
import type { DomainError } from '../../errors/domain-error.js';
import { messageOf } from '../../errors/message-of.js';
import type { FileSystem } from '../../fs/file-system.js';
import { repairedName, replaceDamaged } from '../../fs/move-aside.js';
import { CommitListeners } from '../commit-listeners.js';
import { GroupCommit, type GroupLimits } from '../group-commit.js';
import { Migrations } from '../migrations.js';
import { storeError } from '../relational-errors.js';
import type { EmbeddedStore, Migration } from '../relational-store.js';
import { runInThread } from './database-task.js';
import { RunMark } from './run-mark.js';
import { readerDriver, sqliteDialect, writerDriver } from './sqlite-dialect.js';
import { recoverWal } from './wal-recovery.js';
import { WorkerChannel } from './worker-channel.js';
import type { WorkerSettings } from './worker-protocol.js';

export interface RelationalStoreOptions extends Partial<GroupLimits> {
  /** The database file; its folder is created if needed. Only one process may open it. */
  readonly path: string;
  readonly clock: Clock;
  readonly fileSystem: FileSystem;
  /** A thread that runs `sqlite-worker.js` and has not received a message yet; by default the store starts its own. */
  readonly thread?: Worker | undefined;
  /** Changes nothing in the folder; transactions fail. */
  readonly readOnly?: boolean;
  /** Quarantines a corrupt SQLite journal instead of throwing `store_damaged`. */
  readonly repair?: boolean;
  /** Called with the loss of the SQLite journal: see `LogLoss`. */
  readonly onLoss?: (loss: LogLoss) => void;
  /** The number of cached prepared statements per connection. */
  readonly maxStatementCount?: number;
  /** The maximum number of rows of one statement. More rows are an error, because a result is sent as one message. */
  readonly maxRowCount?: number;
}

const CHECK_MS = 1000;
/** A larger database takes too long to check during startup; `checkDatabase` does it in the background. */
export const CHECKED_AT_OPENING_BYTES = 32 * 1024 * 1024;
/** SQLite stores the run number in 31 bits. */
const MAX_RUN = 2 ** 31 - 1;

/** Opens the embedded relational store of the node: SQLite in one worker thread, with group commit. */
export async function openRelationalStore(options: RelationalStoreOptions): Promise<EmbeddedStore> {
  const { path, clock, readOnly = false } = options;
  const limits: GroupLimits = {
    maxGroupCount: options.maxGroupCount ?? 256,
    maxGroupMs: options.maxGroupMs ?? 20,
    maxWaitingCount: options.maxWaitingCount ?? 10_000,
    maxTransactionMs: options.maxTransactionMs ?? 30_000,
  };
  const sizeBytes = (await options.fileSystem.stat(path))?.sizeBytes ?? 0;
  const settings: WorkerSettings = {
    path,
    isReadOnly: readOnly,
    // A repair requires the result before the database is in use, because the file can only be rebuilt then.
    isChecked: options.repair === true || sizeBytes <= CHECKED_AT_OPENING_BYTES,
    maxStatementCount: options.maxStatementCount ?? 512,
    maxRowCount: options.maxRowCount ?? 1_000_000,
  };
  const open = async (thread?: Worker) =>
    await WorkerChannel.open(settings, limits.maxWaitingCount, {
      filesReady: prepareFiles(options),
      thread,
    });
  const channel = await open(options.thread).catch(async (error: unknown) => {
    if (!options.repair || !storeError.is(error, 'store_corrupt')) throw error;
    await rebuildDatabase(options.fileSystem, path, error);
    options.onLoss?.({
      ...{ kind: 'moved_aside', file: path, offset: 0, lostBytes: 0, lostRecordCount: 0 },
    });
    return await open();
  });
  const mark = readOnly ? undefined : new RunMark(options.fileSystem, path);
  return new SqliteStore(channel, clock, limits, mark);
}

/**
 * Throws the fault if more than indexes are corrupt: a rebuild without some rows, such as deletions, would restore
 * wrong data.
 */
async function rebuildDatabase(
  fileSystem: FileSystem,
  path: string,
  fault: DomainError,
): Promise<void> {
  const to = repairedName(path);
  await fileSystem.remove(to);
  await (await fileSystem.open(to, 'wx', 'buffered', 'private')).close();
  const why = await runInThread({ task: 'rebuild', path, to }).then(
    (faults) => (faults.length > 0 ? `, because rows are affected: ${faults.join('; ')}` : ''),
    (error: unknown) => `: ${messageOf(error)}`,
  );
  if (why !== '') {
    await fileSystem.remove(to);
    throw storeError(
      'store_corrupt',
      { file: path, why: `it cannot be rebuilt${why}`, isRepairFailed: true },
      fault,
    );
  }
  const file = await fileSystem.open(to, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await replaceDamaged(fileSystem, dirname(path), path);
}

async function prepareFiles(options: RelationalStoreOptions): Promise<void> {
  const { path, fileSystem, repair = false, onLoss } = options;
  if (!options.readOnly) await fileSystem.makeDirectory(dirname(path));
  const loss =
    (await new RunMark(fileSystem, path).check(repair)) ??
    (await recoverWal({
      ...{ fileSystem, path: `${path}-wal`, repair },
      isReadOnly: options.readOnly === true,
    }));
  if (loss !== undefined) onLoss?.(loss);
}

class SqliteStore implements EmbeddedStore {
  readonly system = 'sqlite';
  readonly #channel: WorkerChannel;
  readonly #groups: GroupCommit;
  readonly #expiry: Disposable;
  readonly #migrations: Migrations;
  readonly #reader: Kysely<unknown>;
  readonly #writer: Kysely<unknown>;
  /** Absent in a read-only store. */
  readonly #mark: RunMark | undefined;
  /** Settles when this run has a number and a mark, or neither. */
  readonly #marked: Promise<void>;
  #run = 0;
  #diskFullRetry: Promise<void> | undefined;
  readonly #commits = new CommitListeners();
  #closing: Promise<void> | undefined;

  constructor(
    channel: WorkerChannel,
    clock: Clock,
    limits: GroupLimits,
    mark: RunMark | undefined,
  ) {
    this.#channel = channel;
    this.#mark = mark;
    this.#groups = new GroupCommit(channel, clock, limits);
    this.#expiry = clock.every(CHECK_MS, () => {
      this.#groups.expire();
      if (channel.fullBy !== undefined) this.#retryOnFullDisk();
    });
    this.#reader = new Kysely({ dialect: sqliteDialect(readerDriver(channel)) });
    this.#writer = new Kysely({ dialect: sqliteDialect(writerDriver(this.#groups)) });
    // The first start creates a hundred tables and indexes.
    const migrator = new Kysely<unknown>({
      dialect: sqliteDialect(writerDriver(this.#groups, { isEager: true })),
    });
    this.#migrations = new Migrations(this, async (work) => {
      try {
        await migrator.transaction().execute(work);
      } catch (error) {
        // The failed statement is a better error than the aborted transaction.
        throw storeError.is(error, 'transaction_aborted') ? error.cause : error;
      }
    });
    // On a full disk, the store starts without a mark.
    this.#marked = this.#beginRun().catch(() => undefined);
  }

  get obstacle(): Error | undefined {
    return this.#channel.brokenBy ?? this.#channel.fullBy;
  }

  async transaction<DB, T>(work: (tx: Transaction<DB>) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeError('store_unusable', 'it is closed');
    // The caller created the tables and defines their types.
    const writer = this.#writer as Kysely<DB>;
    return await this.#commits.hear((all) => writer.transaction().execute(all), work);
  }

  onCommit<DB>(tx: Transaction<DB>, listener: () => void): void {
    this.#commits.add(tx, listener);
  }

  reader<DB>(): Kysely<DB> {
    return this.#reader as Kysely<DB>; // as in `transaction`
  }

  async migrate(service: string, migrations: readonly Migration[]): Promise<void> {
    await this.#migrations.apply(service, migrations);
  }

  async snapshot(path: string): Promise<void> {
    await this.#channel.snapshot(path);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #beginRun(): Promise<void> {
    if (this.#mark === undefined) return;
    await this.transaction<unknown, void>(async (tx) => {
      const { rows } = await sql<{ user_version: number }>`PRAGMA user_version`.execute(tx);
      this.#run = ((rows[0]?.user_version ?? 0) % MAX_RUN) + 1;
      await this.#storeRun(tx);
    });
    await this.#mark.set(this.#run);
  }

  async #storeRun(tx: Transaction<unknown>): Promise<void> {
    await sql.raw(`PRAGMA user_version = ${this.#run}`).execute(tx);
  }

  /** Runs a transaction that writes one page and changes nothing, because the next real write may be hours away. */
  #retryOnFullDisk(): void {
    this.#diskFullRetry ??= this.transaction(async (tx) => await this.#storeRun(tx))
      .then(() => this.#channel.forgetFull())
      .catch(() => undefined) // The disk is still full.
      .finally(() => {
        this.#diskFullRetry = undefined;
      });
  }

  async #close(): Promise<void> {
    await this.#marked;
    await this.#groups.idle();
    // If the removal fails, the journal is checked at the next start, when it still exists or has been checkpointed.
    await this.#mark?.remove().catch(() => undefined);
    this.#expiry[Symbol.dispose]();
    await this.#channel.close();
  }
}
