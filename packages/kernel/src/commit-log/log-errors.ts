import { errorCatalogue } from '../errors/domain-error.js';

export const logError = errorCatalogue('LogError', {
  /** A write or sync failed. It is unknown whether waiting records were written to disk. */
  log_read_only: 'commit log is read-only after a failed write or sync',
  /** Synced bytes differ from the written bytes. Startup fails unless a repair was requested. */
  log_damaged: (details: {
    readonly file: string;
    readonly offset: number;
    readonly why: string;
  }) => `commit log is corrupt: ${details.file} at offset ${details.offset}: ${details.why}`,
  /** The bytes that wait to be written exceed the limit, or one record is too large. */
  log_overloaded: (why: string) => `commit log rejects new records: ${why}`,
});
