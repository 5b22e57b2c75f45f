import { CommandFailed, EXIT, systemText } from '@plinth/server/process/command-failed.js';
import { CommanderError } from 'commander';
import { printNote } from './terminal.js';

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
