import { join } from 'node:path';
import { crc32c, type FileSystem, type FrozenFile } from '@plinth/kernel';
import { AUDIT_FOLDER } from '../operator/audit-log.js';

/** Name of the audit log among the frozen parts of a backup. */
export const AUDIT = 'audit';
const SUM_PIECE_BYTES = 4 * 1024 * 1024;

/**
 * Files and complete folders that a data folder stores in addition to the relational store. Backup, restore and verify use this
 * list. A service freezes its part during a backup (`HttpService.freeze`).
 * All other files in the folder are recreated at the next start. Source: docs/formats/backup.md.
 */
export const BACKED_UP: readonly { readonly service: string; readonly paths: readonly string[] }[] =
  [
    // Keys of the node: without them the encrypted secrets in the relational store cannot be read.
    { service: 'server', paths: ['master.key', 'plinth.version'] },
    { service: AUDIT, paths: [AUDIT_FOLDER] },
    { service: 'accounts', paths: ['accounts/keys.json'] },
    { service: 'gamedata', paths: ['objects/gamedata'] },
    { service: 'tsdb', paths: ['objects/tsdb', 'tsdb-log'] },
  ];

export interface BackupFile {
  /** Path below the data folder. */
  readonly name: string;
  readonly size_bytes: number;
  readonly crc32c: number;
}

/** Returns the files at or below a path of the list; empty if it does not exist. */
export async function filesAt(
  files: FileSystem,
  dataDir: string,
  name: string,
): Promise<readonly FrozenFile[]> {
  const path = join(dataDir, name);
  const stat = await files.stat(path);
  if (stat === undefined) return [];
  if (!stat.isDirectory) return [{ name, path }];
  const found: FrozenFile[] = [];
  for (const entry of await files.list(path)) {
    found.push(...(await filesAt(files, dataDir, `${name}/${entry}`)));
  }
  return found;
}

/** Describes a file, which is read if its size and checksum are not known. */
export async function describe(files: FileSystem, file: FrozenFile): Promise<BackupFile> {
  const { name, path, known } = file;
  if (known !== undefined) return { name, size_bytes: known.sizeBytes, crc32c: known.checksum };
  const handle = await files.open(path, 'r');
  try {
    const piece = new Uint8Array(SUM_PIECE_BYTES);
    let sizeBytes = 0;
    let sum = 0;
    for (let count = -1; count !== 0; ) {
      count = await handle.read(piece, sizeBytes);
      sum = crc32c([piece.subarray(0, count)], sum);
      sizeBytes += count;
    }
    return { name, size_bytes: sizeBytes, crc32c: sum };
  } finally {
    await handle.close();
  }
}
