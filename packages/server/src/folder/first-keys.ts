import { join } from 'node:path';
import type { Logger } from '@plinth/kernel';
import { createPrivateFile } from './create-private-file.js';
import type { Stores } from './stores.js';

const FILE_NAME = 'initial-account-keys';

/**
 * Shows the keys of the accounts service on a terminal. Other outputs are stored (journal, container log), so
 * without a terminal the keys go to a file that only the server's user may read; the log names the file and no key.
 */
export async function deliverFirstKeys(
  keys: readonly string[],
  to: {
    readonly stores: Pick<Stores, 'files' | 'dataDir'>;
    readonly log: Logger;
    readonly terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
  },
): Promise<void> {
  const { stores, log, terminal } = to;
  if (terminal.isTTY) {
    const lines = keys.map((key) => `  ${key}\n`).join('');
    terminal.write(`Keys of the accounts service (shown only once):\n${lines}`);
    return;
  }
  const { files, dataDir: folder } = stores;
  const file = join(folder, FILE_NAME);
  try {
    await createPrivateFile(files, { folder, name: FILE_NAME }, keys.join('\n'));
    log.info(
      { file },
      'keys of the accounts service written to a file; store the keys, then delete the file',
    );
  } catch (err) {
    // The keys already exist, so failing startup would not create new keys.
    const remedy = 'create new keys with `plinth accounts keys create`';
    log.error({ err, file, remedy }, 'cannot write the keys of the accounts service');
  }
}
