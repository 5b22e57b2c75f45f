import { asDiskFull, ConfigInvalid, isDomainError, storeError } from '@plinth/kernel';
import { CommandFailed, EXIT } from './command-failed.js';
import { CORRUPT_HINT, DAMAGE_HINT, LOST_CHANGES_HINT, RESTORE_HINT } from './hints.js';

/** Fields of a system error about an address. */
interface Listening {
  readonly address?: string;
  readonly port?: number;
}

/**
 * Returns the error that the command reports for a failed start, with its exit code: `CommandFailed`, or
 * `error` itself.
 */
export function explainFailedStart(error: unknown): unknown {
  if (error instanceof ConfigInvalid) {
    const list = error.problems.map((problem) => `\n  ${problem}`).join('');
    return new CommandFailed(
      `the configuration cannot be used:${list}\n  See \`plinth serve --help\` and docs/SETTINGS.md.`,
      EXIT.usage,
    );
  }
  const { code, address, port } = Object(error) as NodeJS.ErrnoException & Listening;
  if (code === 'EADDRINUSE') {
    const bind = address === undefined ? 'the configured address' : `${address}:${port}`;
    return new CommandFailed(
      `${bind} is already in use; stop the other program or use --http-bind HOST:PORT`,
    );
  }
  if (isDomainError(error)) {
    return new CommandFailed(`${error.message}${hintFor(error)}`);
  }
  const full = asDiskFull(error);
  return full === undefined ? error : new CommandFailed(full.message);
}

function hintFor(error: { readonly kind: string }): string {
  if (storeError.is(error, 'store_damaged')) return `${DAMAGE_HINT}\n  ${LOST_CHANGES_HINT}`;
  if (error.kind === 'log_damaged') return DAMAGE_HINT;
  if (!storeError.is(error, 'store_corrupt')) return '';
  return `\n  ${error.details.isRepairFailed === true ? RESTORE_HINT : CORRUPT_HINT}`;
}
