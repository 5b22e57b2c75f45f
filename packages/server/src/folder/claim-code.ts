import { join } from 'node:path';
import type { ClaimCodeDelivery } from '@plinth/identity';
import type { Logger } from '@plinth/kernel';
import { createPrivateFile } from './create-private-file.js';
import type { Stores } from './stores.js';

/** Contains one line. Only this process has the code: the server replaces the file at startup and never reads it. */
export const CLAIM_CODE_FILE = 'claim-code';

/**
 * Shows the claim code on a terminal. Other outputs are stored (journal, container log), so without a terminal
 * the code goes to a file that only the server's user may read. The log contains its path. Backups do not contain the file.
 */
export function claimCodeDelivery(to: {
  readonly stores: Pick<Stores, 'files' | 'dataDir'>;
  readonly log: Logger;
  readonly terminal: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;
}): ClaimCodeDelivery {
  const { log, terminal } = to;
  const { files, dataDir: folder } = to.stores;
  const file = join(folder, CLAIM_CODE_FILE);
  const withdraw = async (): Promise<void> => {
    try {
      await files.remove(file);
      await files.remove(`${file}.tmp`);
    } catch (err) {
      log.warn({ err, file }, 'cannot remove the expired claim code file; delete it manually');
    }
  };
  return {
    async deliver(code) {
      await withdraw();
      if (terminal.isTTY) {
        terminal.write(
          `No admin token yet. Creating one from another machine or through a proxy requires this claim code, which is shown only once:\n  ${code}\n`,
        );
        log.info({ claimCode: 'on the terminal' }, 'no admin token yet');
        return;
      }
      try {
        await createPrivateFile(files, { folder, name: CLAIM_CODE_FILE }, code);
        log.info({ claimCodeFile: file }, 'no admin token yet');
      } catch (err) {
        const remedy = 'restart the server once the file can be written';
        log.error({ err, file, remedy }, 'claim code not written');
      }
    },
    withdraw,
  };
}
