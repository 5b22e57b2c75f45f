import { messageOf } from '@plinth/kernel';
import { CommanderError } from 'commander';
import { printNote } from './terminal.js';

/** Documented in `plinth --help`; scripts depend on them. */
export const EXIT = { failed: 1, usage: 2, unreachable: 3, unauthenticated: 4 } as const;

/** A failure that the caller of a command can do something about: what happened, and what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly kind = 'command_failed';
  readonly exitCode: number;
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints what a person needs and sets the exit code; only a bug shows its stack. */
export function endWith(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has printed its message. Asking for help or the version is no failure.
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

/** What keeps a command from writing a file: the system does not name it in all cases. */
export function cannotWrite(path: string, error: unknown): CommandFailed {
  const why = systemText(error) ?? messageOf(error);
  return new CommandFailed(`cannot write ${path}: ${why}`);
}

/** What to do about errors of the system that need it said. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room and try again',
  EDQUOT: 'the quota of this user is used up: make room and try again',
  EACCES: 'this user has no right to do that there: look at owner and mode of the path',
  EPERM: 'this user has no right to do that there: look at owner and mode of the path',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  EADDRNOTAVAIL: 'this machine does not have the address: name one that it has',
};

/** An error of the system or of a connection, which is no bug; `undefined` for all others. */
function systemText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && 'syscall' in error) {
    const advice = ADVICE[code];
    return advice === undefined ? error.message : `${error.message}\n  ${advice}`;
  }
  // How the runtime tells of a connection that ends in the middle of an answer.
  return code === 'ECONNRESET'
    ? `the connection to the server was lost: ${error.message}`
    : undefined;
}
