import { type Clock, ConfigInvalid, LineFile, type Logger, messageOf } from '@plinth/kernel';
import { AccessLog } from '../http/access-log.js';
import type { ServerSettings } from '../settings.js';

const STANDARD_OUTPUT = 1;

/**
 * Opens the access log; `undefined` when disabled. Throws `ConfigInvalid` for a file that cannot be opened. Lines are
 * dropped if the destination is slow; requests do not wait.
 */
export function openAccessLog(
  { access_log: format, access_log_file: path }: ServerSettings,
  clock: Clock,
  log: Logger,
): { readonly log: AccessLog; close(): void } | undefined {
  if (format === 'off') return undefined;
  const onFailure = (err: unknown): void =>
    log.error({ err, file: path }, 'access log not written');
  let file: LineFile;
  try {
    file = new LineFile(path ?? STANDARD_OUTPUT, onFailure);
  } catch (error) {
    throw new ConfigInvalid([`server.access_log_file: cannot be opened: ${messageOf(error)}`]);
  }
  return {
    log: new AccessLog(format, { clock, write: (line) => file.write(line) }),
    close: () => file.close(),
  };
}
