import { refusalForRoot } from '@plinth/server/folder/folder-owner.js';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';

/** Throws `CommandFailed` when root would write into the data folder of another user: see `refusalForRoot`. */
export async function assertMayWrite(
  dataDir: string,
  command: string,
  options: { readonly isEmpty?: boolean; readonly reads?: string } = {},
): Promise<void> {
  const refusal = await refusalForRoot(dataDir, { ...options, command });
  if (refusal !== undefined) throw new CommandFailed(refusal, EXIT.usage);
}
