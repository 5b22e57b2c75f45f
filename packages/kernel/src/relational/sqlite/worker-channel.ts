import { Worker } from 'node:worker_threads';
import type { DomainError } from '../../errors/domain-error.js';
import { asDiskFull, type DiskFull } from '../../fs/disk-full.js';
import { obstacleOf } from '../../fs/obstacle-of.js';
import { storeError } from '../relational-errors.js';
import { isCorruption, toStoreError } from './sqlite-errors.js';
import type {
  Command,
  CommandFailure,
  OpeningFault,
  QueryResponse,
  Reply,
  SqlValue,
  WorkerSettings,
} from './worker-protocol.js';

interface Waiting {
  readonly resolve: (response: QueryResponse | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** The thread needs only a small part of this time between its last command and its exit. */
const MOST_END_MS = 5000;

/** Commands without a reply; they are sent with the next one that has a reply. */
type OneWayCommand = Exclude<Command, { id: number }>;

/** The main thread's side of the channel: numbers commands, sends them in batches, and resolves replies. */
export class WorkerChannel {
  readonly #worker: Worker;
  readonly #path: string;
  readonly #maxWaitingCount: number;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: Command[] = [];
  #isSending = false;
  #lastId = 0;
  #broken: DomainError | undefined;
  #full: DiskFull | undefined;
  #isClosing = false;

  private constructor(worker: Worker, path: string, maxWaitingCount: number) {
    this.#worker = worker;
    this.#path = path;
    this.#maxWaitingCount = maxWaitingCount;
    worker.on('message', (replies: readonly Reply[]) => this.#settle(replies));
    worker.on('messageerror', (error) => this.break('a reply could not be deserialized', error));
    worker.on('error', (error) => this.break('its thread failed', error));
    worker.on('exit', () => this.break('its thread exited'));
  }

  /**
   * Resolves when the thread has opened the database. The thread starts immediately, unless it is already running, and waits
   * until `filesReady` has resolved, because the program needs the store soon.
   */
  static async open(
    settings: WorkerSettings,
    maxWaitingCount: number,
    around: { readonly filesReady: Promise<void>; readonly thread?: Worker | undefined },
  ): Promise<WorkerChannel> {
    const worker = around.thread ?? startThread();
    const opened = new Promise<void>((resolve, reject) => {
      const onError = (error: unknown) =>
        reject(storeError('store_unusable', 'it could not be opened', error));
      const onExit = () => onError(new Error('its thread exited'));
      worker.once('error', onError);
      // A thread that was started earlier may have failed before this listener; then only its exit is observed.
      worker.once('exit', onExit);
      worker.once('message', (first: readonly Reply[] | OpeningFault) => {
        worker.off('error', onError);
        worker.off('exit', onExit);
        if (!('corruption' in first)) return resolve();
        reject(storeError('store_corrupt', { file: settings.path, why: first.corruption }));
      });
    });
    const sent = around.filesReady.then(() => worker.postMessage(settings));
    try {
      await Promise.all([sent, opened]);
    } catch (error) {
      // The thread waits for settings that were never sent; after a failed open, it exits.
      await ended(worker, undefined);
      throw storeError.is(error, 'store_unusable')
        ? await couldNotOpen(settings.path, error.cause)
        : error;
    }
    return new WorkerChannel(worker, settings.path, maxWaitingCount);
  }

  /** Set by the first write that failed because the disk was full. */
  get fullBy(): DiskFull | undefined {
    return this.#full;
  }

  /** Call when the disk has space again. */
  forgetFull(): void {
    this.#full = undefined;
  }

  get brokenBy(): DomainError | undefined {
    return this.#broken;
  }

  send(command: OneWayCommand): void {
    if (this.#broken === undefined && !this.#isClosing) this.#unsent.push(command);
  }

  async query(
    on: 'writer' | 'reader',
    sql: string,
    parameters: readonly SqlValue[],
  ): Promise<QueryResponse | undefined> {
    if (this.#waiting.size >= this.#maxWaitingCount)
      throw storeError('store_overloaded', this.#maxWaitingCount);
    return await this.#request({ op: 'query', id: this.#nextId(), on, sql, parameters });
  }

  async commitGroup(): Promise<void> {
    await this.#request({ op: 'commit_group', id: this.#nextId() });
  }

  async snapshot(path: string): Promise<void> {
    await this.#request({ op: 'snapshot', id: this.#nextId(), path });
  }

  /** Safe to call twice, and on a broken channel. */
  async close(): Promise<void> {
    if (this.#broken === undefined && !this.#isClosing) {
      const closed = this.#request({ op: 'close', id: this.#nextId() });
      // No command may follow, because the driver crashes the process on a call to a closed database.
      this.#isClosing = true;
      await closed;
      this.break('it is closed');
    }
    // A thread that has closed ignores the second message.
    await ended(this.#worker, [{ op: 'close', id: this.#nextId() }]);
  }

  /** Rejects all pending and later requests. */
  break(why: string, cause?: unknown): void {
    if (this.#broken !== undefined) return;
    this.#broken = storeError('store_unusable', why, cause);
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
    this.#waiting.clear();
    this.#unsent = [];
  }

  #whyBroken({ code, message }: CommandFailure): string {
    if (!isCorruption(code)) return 'the database failed';
    return `${this.#path} is corrupt (${message}); stop the server, then restore a snapshot with \`plinth snapshot\` or start once with --repair`;
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  async #request(command: Exclude<Command, OneWayCommand>): Promise<QueryResponse | undefined> {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#isClosing) throw storeError('store_unusable', 'it is closed');
    return await new Promise((resolve, reject) => {
      this.#waiting.set(command.id, { resolve, reject });
      this.#unsent.push(command);
      if (this.#isSending) return;
      this.#isSending = true;
      // All requests of this tick are sent as one message, as a message costs more than a statement.
      queueMicrotask(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    this.#isSending = false;
    const commands = this.#unsent;
    this.#unsent = [];
    if (commands.length > 0) this.#worker.postMessage(commands);
  }

  #settle(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const waiting = this.#waiting.get(reply.id);
      if (waiting === undefined) continue;
      this.#waiting.delete(reply.id);
      if ('failure' in reply) {
        const error = toStoreError(reply.failure);
        this.#full ??= asDiskFull(error);
        waiting.reject(error);
        if (reply.failure.isFatal) this.break(this.#whyBroken(reply.failure), error);
      } else waiting.resolve(reply.response);
    }
  }
}

function startThread(): Worker {
  const name = 'relational-store';
  // The thread needs no environment variables, and some are secrets.
  return new Worker(new URL('./sqlite-worker.js', import.meta.url), { name, env: {} });
}

/**
 * Sends the thread its last message and waits until it has exited. Terminating it inside the driver would crash the
 * process, because the native code does not handle failed calls into the runtime.
 */
async function ended(worker: Worker, lastMessage: readonly Command[] | undefined): Promise<void> {
  if (worker.threadId < 0) return;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.postMessage(lastMessage);
  const lastResort = setTimeout(() => void worker.terminate(), MOST_END_MS);
  await exited;
  clearTimeout(lastResort);
}

/** SQLite often reports only an error number. */
async function couldNotOpen(path: string, cause: unknown): Promise<DomainError> {
  const known = (await obstacleOf(path)) ?? (await obstacleOf(`${path}-wal`));
  const why = known ?? (cause instanceof Error ? cause.message : JSON.stringify(cause));
  return storeError('store_unusable', `${path} could not be opened: ${why}`, cause);
}
