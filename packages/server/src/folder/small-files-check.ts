import { isUtf8 } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkKeyFile } from '@plinth/accounts';
import {
  type FileSystem,
  messageOf,
  type RelationalStore,
  SecretBox,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { opensSecrets } from '@plinth/webhooks';
import { AUDIT_FOLDER, isAuditLine } from '../operator/audit-log.js';
import { VERSION_FILE } from './file-names.js';
import { FOLDER_ID_FILE, isFolderId } from './folder-id.js';
import { readOwnKey } from './master-key.js';

/** Problems of a data folder, and findings that do not prevent the start or lose data. */
export interface Findings {
  readonly faults: readonly string[];
  readonly notes: readonly string[];
}

/** Checks the files of a stopped server that are neither rows nor the relational store. Changes nothing. */
export async function checkSmallFiles(options: {
  readonly dataDir: string;
  readonly fileSystem: FileSystem;
  readonly relational: RelationalStore;
}): Promise<Findings> {
  const { dataDir, fileSystem } = options;
  const all = [
    await checkMasterKey(options),
    faultIf(await checkKeyFile(fileSystem, join(dataDir, 'accounts'))),
    faultIf(await checkText(join(dataDir, VERSION_FILE), isVersion, WRITTEN_AT_START)),
    faultIf(await checkText(join(dataDir, FOLDER_ID_FILE), isFolderId, NEW_ID)),
    await checkAuditLog(join(dataDir, AUDIT_FOLDER)),
  ];
  return {
    faults: all.flatMap(({ faults }) => faults),
    notes: all.flatMap(({ notes }) => notes),
  };
}

const WRITTEN_AT_START = 'delete the file; the next start creates it again';
const NEW_ID =
  'restore the file from a copy, or delete it; with a new ID, the server no longer removes its earlier scheduled backups';
const OTHER_KEY =
  'restore the file from a backup, unless server.master_key or server.master_key_file contains the key';

const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.]+)?\n$/.test(text);

const faultIf = (fault: string | undefined): Findings => ({
  faults: fault === undefined ? [] : [fault],
  notes: [],
});

async function checkMasterKey({
  dataDir,
  relational,
}: {
  readonly dataDir: string;
  readonly relational: RelationalStore;
}): Promise<Findings> {
  const own = await readOwnKey(dataDir);
  if (own.fault !== undefined) return faultIf(own.fault);
  if (own.key === undefined)
    return {
      faults: [],
      notes: [
        `${own.path} is missing: ${OTHER_KEY}; otherwise the server creates a new key at startup, which cannot decrypt stored secrets`,
      ],
    };
  const box = new SecretBox(own.key, new SystemRandom(new SystemClock()));
  const isRight = await opensSecrets(relational, box);
  return faultIf(
    isRight ? undefined : `${own.path}: the key cannot decrypt the stored secrets; ${OTHER_KEY}`,
  );
}

/** Returns the problem with a file that the server creates again if it is missing. */
async function checkText(
  path: string,
  isValid: (text: string) => boolean,
  remedy: string,
): Promise<string | undefined> {
  try {
    if (isValid(await readFile(path, 'utf8'))) return undefined;
    return `${path} is corrupt; ${remedy}`;
  } catch (error) {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return undefined;
    return `${path} cannot be read: ${messageOf(error)}`;
  }
}

/** Checks the audit log. An unterminated line is left by a power failure and is not damage. */
async function checkAuditLog(folder: string): Promise<Findings> {
  const faults: string[] = [];
  const notes: string[] = [];
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith('.jsonl')).sort()) {
    const path = join(folder, name);
    const bad = linesOf(await readFile(path)).flatMap((bytes, index) => {
      const line = bytes.toString();
      const isValid = line === '' || (isUtf8(bytes) && isAuditLine(line));
      return isValid ? [] : [{ line, number: index + 1 }];
    });
    const corrupt = bad.filter(({ line }) => line.endsWith('}'));
    if (corrupt.length > 0)
      faults.push(
        `${path} contains corrupt entries (${corrupt.length}, the first in line ${corrupt[0]?.number}); the server skips them. Restore the file from a backup`,
      );
    const cutCount = bad.length - corrupt.length;
    if (cutCount > 0)
      notes.push(`${path} contains incomplete entries (${cutCount}), which the server skips`);
  }
  return { faults, notes };
}

/** Split before decoding, because decoding replaces bytes that are not UTF-8. */
function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    lines.push(bytes.subarray(start, end === -1 ? bytes.length : end));
    start = end === -1 ? bytes.length : end + 1;
  }
  return lines;
}
