import { messageOf } from '@plinth/kernel';

/** Documented in `plinth --help`; scripts depend on these codes. */
export const EXIT = {
  failed: 1,
  usage: 2,
  unreachable: 3,
  unauthenticated: 4,
  possibleLoss: 5,
} as const;

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

/** Returns the failure for a file that cannot be written; some system errors do not contain the path. */
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

/** Returns the message for a system or connection error; `undefined` for bugs. */
export function systemText(error: unknown): string | undefined {
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
