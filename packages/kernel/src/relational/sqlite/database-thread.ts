import { assertNever } from '../../errors/invariant.js';
import { vacuumInto } from './database-check.js';
import { SqliteConnection } from './sqlite-connection.js';
import { codeOf } from './sqlite-errors.js';
import type { Command, CommandFailure, Reply, WorkerSettings } from './worker-protocol.js';

const PAGE_SIZE_BYTES = 8192;
/** Fatal errors. A rejected write or file growth is not fatal: SQLite rolls back, and space may become available later. */
const FATAL_CODE = /^SQLITE_(IOERR(?!_WRITE$|_SHMSIZE$)|CORRUPT|NOTADB|PROTOCOL|PANIC)/;

/**
 * Runs commands in order. The writer has one open group at a time, in which every transaction is a savepoint.
 * The reader is a second connection, so that it sees only committed data.
 */
export class DatabaseThread {
  readonly #writer: SqliteConnection;
  readonly #reader: SqliteConnection;
  /** Whether the running group has changed the schema. */
  #hasNewSchema = false;
  readonly #settings: WorkerSettings;
  /** Set when the group can no longer be committed; all its remaining commands fail with this error. */
  #groupFailure: CommandFailure | undefined;
  #isClosed = false;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#writer = new SqliteConnection(settings);
    if (!settings.isReadOnly) {
      // For a new database: rows of a few kilobytes (payloads, documents) would leave half of each smaller page empty.
      this.#writer.pragma(`page_size = ${PAGE_SIZE_BYTES}`);
      this.#writer.pragma('journal_mode = WAL');
    }
    this.#writer.pragma('synchronous = FULL');
    this.#writer.pragma('foreign_keys = ON');
    this.#writer.pragma('busy_timeout = 5000');
    this.#reader = new SqliteConnection(settings);
    this.#reader.pragma('query_only = ON');
    this.#reader.pragma('busy_timeout = 5000');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async findFaults(): Promise<readonly string[]> {
    return await this.#reader.findFaults();
  }

  close(): void {
    this.#reader.close();
    this.#writer.close();
    this.#isClosed = true;
  }

  runAll(commands: readonly Command[]): Reply[] {
    const replies: Reply[] = [];
    for (const command of commands) {
      const reply = this.#run(command);
      if (reply !== undefined) replies.push(reply);
    }
    return replies;
  }

  #run(command: Command): Reply | undefined {
    switch (command.op) {
      case 'open_group':
        return this.#inGroup('BEGIN IMMEDIATE');
      case 'begin':
        return this.#inGroup('SAVEPOINT one');
      case 'keep':
        return this.#inGroup('RELEASE one');
      case 'undo':
        this.#inGroup('ROLLBACK TO one');
        return this.#inGroup('RELEASE one');
      case 'commit_group':
        return this.#commitGroup(command.id);
      case 'query':
        return this.#query(command);
      case 'snapshot':
        return this.#snapshot(command);
      case 'close':
        this.close();
        return { id: command.id, response: undefined };
      default:
        return assertNever(command);
    }
  }

  /** These commands have no reply; a failure is reported with the next reply of the group. */
  #inGroup(sql: string): undefined {
    if (this.#groupFailure !== undefined) return;
    try {
      this.#writer.exec(sql);
    } catch (error) {
      this.#groupFailure = toFailure(error);
    }
  }

  #query(command: Command & { op: 'query' }): Reply {
    const { id, sql, parameters } = command;
    if (command.on === 'writer' && this.#groupFailure !== undefined) {
      return { id, failure: this.#groupFailure };
    }
    const connection = command.on === 'writer' ? this.#writer : this.#reader;
    try {
      const response = connection.query(sql, parameters);
      this.#hasNewSchema ||= response.changedSchema;
      return { id, response };
    } catch (error) {
      const failure = toFailure(error);
      // Some failures (full disk, I/O) make SQLite roll back the complete transaction, which is the group.
      if (command.on === 'writer' && !this.#writer.isInTransaction) this.#groupFailure = failure;
      return { id, failure };
    }
  }

  /** Uses its own connection: the writer may be inside a group, and the reader may not write. */
  #snapshot({ id, path }: Command & { op: 'snapshot' }): Reply {
    let connection: SqliteConnection | undefined;
    try {
      connection = new SqliteConnection(this.#settings);
      connection.exec(vacuumInto(path));
      return { id, response: undefined };
    } catch (error) {
      return { id, failure: { ...toFailure(error), isFatal: false } };
    } finally {
      connection?.close();
    }
  }

  #commitGroup(id: number): Reply {
    this.#inGroup('COMMIT');
    const failure = this.#groupFailure;
    this.#groupFailure = undefined;
    try {
      if (failure === undefined) return { id, response: undefined };
      if (this.#writer.isInTransaction) this.#writer.exec('ROLLBACK');
    } catch (error) {
      return { id, failure: { ...toFailure(error), isFatal: true } };
    } finally {
      this.#forgetSchema();
    }
    return { id, failure };
  }

  /** Statements prepared before the end of the group may refer to the old schema, or to one that was rolled back. */
  #forgetSchema(): void {
    if (!this.#hasNewSchema) return;
    this.#hasNewSchema = false;
    this.#reader.forgetStatements();
    this.#writer.forgetStatements();
  }
}

function toFailure(error: unknown): CommandFailure {
  if (!(error instanceof Error)) return { code: '', message: String(error), isFatal: true };
  const code = codeOf(error);
  return { code, message: error.message, isFatal: FATAL_CODE.test(code) };
}
