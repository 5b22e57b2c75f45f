import { causesOf } from '../errors/causes-of.js';

const RETRY_AFTER_SEC = 5;

/** What the system gives a process no further file for: many connections take what files need. */
const NO_HANDLES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/** Nothing was stored. It passes when there is room again; nobody has to restart anything. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
  readonly kind = 'disk_full';
  readonly retryAfterSec = RETRY_AFTER_SEC;
  /** @param code of what it comes from, where that is not `cause` itself. */
  constructor(
    cause: unknown,
    code: unknown = Reflect.get(Object(cause), 'code'),
    message = NO_HANDLES.has(code)
      ? 'the server may open no more files (ulimit -n); try again when it has closed some'
      : 'the disk of the server is full or refuses writes; try again when there is room',
  ) {
    super(message, { cause });
  }

  /** Before anything fails: what is left is for deletions. */
  static low(): DiskFull {
    return new DiskFull(undefined, undefined, LOW);
  }
}

const LOW =
  'the disk of the server is full: less than storage.min_free_bytes is free; delete data or free disk space, then try again';

/**
 * Words for it: of the system (also for its quota and its bound on open files), of SQLite and of PostgreSQL. SQLite knows `ENOSPC` alone:
 * what else a write of its files failed by is an error of its write, and its shared memory that cannot grow has one of its own.
 */
const CODES: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT', ...NO_HANDLES],
  ...['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'],
  '53100',
]);

/** `error` as a full disk, when that is what it comes from. */
export function asDiskFull(error: unknown): DiskFull | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof DiskFull) return cause;
    const code: unknown = Reflect.get(cause, 'code');
    if (CODES.has(code)) return new DiskFull(error, code);
  }
  return undefined;
}
