import { resolve } from 'node:path';
import { Command } from 'commander';
import { checked, piecesOf, readBackup, tellLeftOut } from './backup-folder.js';
import { CommandFailed } from './exit.js';
import { Progress } from './progress.js';

/** `plinth verify`. */
export function verifyCommand(): Command {
  const command = new Command('verify')
    .description('read a backup and compare every file with its checksum; no server needs to run')
    .requiredOption('--from <folder>', 'the backup')
    .addHelpText('after', '\nExample:\n  plinth verify --from /backups/monday');
  return command.action(async () => {
    const from = resolve(String(command.opts()['from']));
    const manifest = await readBackup(from);
    const totalBytes = manifest.files.reduce((sum, file) => sum + file.size_bytes, 0);
    const progress = new Progress('verify', totalBytes);
    const faults: string[] = [];
    for (const file of manifest.files) {
      try {
        for await (const piece of checked(piecesOf(from, file.name), file)) {
          progress.add(piece.byteLength);
        }
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error;
        faults.push(error.message);
      }
    }
    progress.end();
    if (faults.length > 0) throw new CommandFailed(`${from}:\n  ${faults.join('\n  ')}`);
    process.stdout.write(`${from}: ${manifest.files.length} files, ${totalBytes} bytes, whole\n`);
    tellLeftOut(manifest);
  });
}
