import { causesOf } from '../errors/causes-of.js';

const RETRY_AFTER_SEC = 5;

/** The process has reached its limit of file descriptors, for example because many connections are open. */
const NO_HANDLES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/** Nothing was stored. The condition ends when space is free again, without a restart. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly kind = 'disk_full';
  readonly retryAfterSec = RETRY_AFTER_SEC;
  /** @param code the code of the underlying error, if `cause` is another error. */
  constructor(
    cause: unknown,
    code: unknown = Reflect.get(Object(cause), 'code'),
    message = NO_HANDLES.has(code)
      ? 'the server has reached its limit of open files (ulimit -n); raise the limit or retry later'
      : 'the server disk is full or rejects writes; free space and retry',
  ) {
    super(message, { cause });
  }

  /** Used before any write fails: the remaining space is reserved for deletions. */
  static low(): DiskFull {
    return new DiskFull(undefined, undefined, LOW);
  }
}

const LOW =
  'the server disk is full: less than storage.min_free_bytes is free; delete data or free disk space, then retry';

/**
 * Error codes for a full disk, a quota or the limit on open files: from the system, SQLite and PostgreSQL. SQLite reports only
 * `ENOSPC` as a full disk. Other failed writes of its files are I/O errors, and shared memory that cannot grow has its own code.
 */
const CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', ...NO_HANDLES],
  ...['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'],
  '53100',
]);

/** Returns `error` as a `DiskFull` when a full disk caused it. */
export function asDiskFull(error: unknown): DiskFull | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof DiskFull) return cause;
    const code: unknown = Reflect.get(cause, 'code');
    if (CODES.has(code)) return new DiskFull(error, code);
  }
  return undefined;
}
