import { errorCatalogue } from '../errors/domain-error.js';

export const logError = errorCatalogue('LogError', {
  /** The log took its first failed write or sync; whether records that were waiting are on disk is unknown. */
  log_read_only: 'commit log is read-only after a failed write or sync',
  /** Bytes that had been synced are not what was written. The start stops here unless a repair is asked for. */
  log_damaged: (at: { readonly file: string; readonly offset: number; readonly why: string }) =>
    `commit log is damaged: ${at.file} at offset ${at.offset}: ${at.why}`,
  /** More bytes wait for the disk than the log has room for, or one record is larger than a record may be. */
  log_overloaded: (why: string) => `commit log takes no further record: ${why}`,
});
