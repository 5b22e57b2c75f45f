import { asDiskFull, ConfigInvalid, isDomainError } from '@plinth/kernel';
import { CommandFailed, EXIT } from './command-failed.js';
import { CORRUPT_HINT, DAMAGE_HINT } from './hints.js';

const DAMAGE_KINDS: ReadonlySet<string> = new Set(['log_damaged', 'store_damaged']);

/** Fields of a system error about an address. */
interface Listening {
  readonly address?: string;
  readonly port?: number;
}

/** What the command prints of a start that failed, and its exit code: `CommandFailed`, or `error` itself. */
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
    const corrupt = error.kind === 'store_corrupt' ? `\n  ${CORRUPT_HINT}` : '';
    const hint = DAMAGE_KINDS.has(error.kind) ? DAMAGE_HINT : corrupt;
    return new CommandFailed(`${error.message}${hint}`);
  }
  const full = asDiskFull(error);
  return full === undefined ? error : new CommandFailed(full.message);
}
