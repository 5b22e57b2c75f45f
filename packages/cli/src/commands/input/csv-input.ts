import { CsvFault } from '@plinth/line-protocol';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';

/** Passes on `items`, and converts CSV errors to command failures. */
export async function* readingCsv<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw csvFailure(error);
  }
}

export function csvFailure(error: unknown): unknown {
  if (!(error instanceof CsvFault)) return error;
  const exitCode = error.kind === 'no_such_column' ? EXIT.usage : EXIT.failed;
  return new CommandFailed(error.message, exitCode);
}
