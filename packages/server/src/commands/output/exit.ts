import { messageOf } from '@plinth/kernel';
import { CommanderError } from 'commander';
import { printNote } from './terminal.js';

/** Documented in `plinth --help`; scripts depend on these codes. */
export const EXIT = { failed: 1, usage: 2, unreachable: 3, unauthenticated: 4 } as const;

/** A failure that the user can fix. The message contains the cause and the fix. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly kind = 'command_failed';
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints an error and sets the exit code. Only bugs print a stack. */
export function endWith(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has already printed its message. `--help` and `--version` are not failures.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
    return;
  }
  if (error instanceof CommandFailed) {
    printNote(`plinth: ${error.message}\n`);
    process.exitCode = error.exitCode;
    return;
  }
  const text = systemText(error) ?? (error instanceof Error ? error.stack : String(error));
  printNote(`plinth: ${text}\n`);
  process.exitCode = EXIT.failed;
}

/** Failure for a file that cannot be written; some system errors do not contain the path. */
export function cannotWrite(path: string, error: unknown): CommandFailed {
  const why = systemText(error) ?? messageOf(error);
  return new CommandFailed(`cannot write ${path}: ${why}`);
}

/** Fixes for system errors. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: free some space and try again',
  EDQUOT: 'the disk quota of this user is exceeded: free some space and try again',
  EACCES: 'permission denied: check owner and mode of the path',
  EPERM: 'permission denied: check owner and mode of the path',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files: raise the limit (ulimit -n)',
  EADDRNOTAVAIL: 'the address does not exist on this machine: use a local address',
};

/** The message for a system or connection error; `undefined` for bugs. */
function systemText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && 'syscall' in error) {
    const advice = ADVICE[code];
    return advice === undefined ? error.message : `${error.message}\n  ${advice}`;
  }
  // The runtime reports ECONNRESET for a connection that closes during a response.
  return code === 'ECONNRESET'
    ? `the connection to the server was lost: ${error.message}`
    : undefined;
}
