import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import { readWriteTarget, type WriteTarget } from './write-target.js';

/** Maximum number of series that an error names. Senders log only the first line of a response. */
const MAX_SHOWN_SERIES = 3;

/** Returns the target of a message, from the parameters of the 1.x write endpoint with a default database. */
export function messageTarget(queryString: string, defaultDatabase: string): WriteTarget {
  const hasDatabase = /(?:^|&)(?:db|database)=[^&]/.test(queryString);
  const given = hasDatabase
    ? queryString
    : `${queryString}&db=${encodeURIComponent(defaultDatabase)}`;
  return readWriteTarget('v1', given, false);
}

/** Explains why rows of a message were refused, with the first series. @param what the rows, and the verb */
export function refusedSeries(
  { refused, lineCount, writtenCount }: WriteOutcome,
  what: string,
): string {
  const shown = refused
    .slice(0, MAX_SHOWN_SERIES)
    .map(({ originalLine, message }) => `${originalLine}: ${message}`);
  const rest = refused.length > MAX_SHOWN_SERIES ? '; ...' : '';
  return `${lineCount - writtenCount} of ${lineCount} ${what}: ${shown.join('; ')}${rest}`;
}
