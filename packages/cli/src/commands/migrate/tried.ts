import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { printNote } from '../output/terminal.js';

/**
 * @returns whether the server accepted the statement. After a rejection, the command continues but exits with an error.
 */
export async function tried(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof CommandFailed && error.exitCode === EXIT.failed)) throw error;
    printNote(`${error.message}\n`);
    process.exitCode = EXIT.failed;
    return false;
  }
}
