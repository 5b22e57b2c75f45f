/** The log took its first failed write or sync; whether records that were waiting are on disk is unknown. */
export class LogReadOnly extends Error {
  override readonly name = 'LogReadOnly';
  readonly kind = 'log_read_only';
  constructor(cause: unknown) {
    super('commit log is read-only after a failed write or sync', { cause });
  }
}

/** Bytes that had been synced are not what was written. The start stops here unless a repair is asked for. */
export class LogDamaged extends Error {
  override readonly name = 'LogDamaged';
  readonly kind = 'log_damaged';
  readonly file: string;
  readonly offset: number;
  constructor(at: { file: string; offset: number; why: string }) {
    super(`commit log is damaged: ${at.file} at offset ${at.offset}: ${at.why}`);
    this.file = at.file;
    this.offset = at.offset;
  }
}

/** More bytes wait for the disk than the log has room for, or one record is larger than a record may be. */
export class LogOverloaded extends Error {
  override readonly name = 'LogOverloaded';
  readonly kind = 'log_overloaded';
  constructor(why: string) {
    super(`commit log takes no further record: ${why}`);
  }
}
