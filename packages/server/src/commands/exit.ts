import { CommanderError } from 'commander';

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
    process.stderr.write(`plinth: ${error.message}\n`);
    process.exitCode = error.exitCode;
    return;
  }
  process.stderr.write(`plinth: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = EXIT.failed;
}
