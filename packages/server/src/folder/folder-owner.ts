import { open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '../shell-word.js';
import { STORE_FILE, VERSION_FILE } from './file-names.js';

const ROOT = 0;
/** Folder in which systemd keeps the state of units with `DynamicUser=`. Other users cannot access it. */
const DYNAMIC_USER_FOLDER = '/var/lib/private';

export interface RefusedCommand {
  /** The command as entered, without secrets. */
  readonly command: string;
  /** A file or folder outside the data folder that the command reads. */
  readonly reads?: string;
  /** Advice if a systemd unit owns the folder. By default, the advice is to run the command as a separate unit. */
  readonly inUnit?: string;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the reason why this process must not write to `folder`, with a command to run instead; `undefined` if it
 * may write. Files owned by root would prevent the server's user from starting the server. For other users, the
 * permissions of the folder apply.
 * @param options.isEmpty the folder is about to become a data folder, so its owner is checked.
 */
export async function refusalForRoot(
  folder: string,
  options: RefusedCommand & { readonly isEmpty?: boolean },
): Promise<string | undefined> {
  if (process.geteuid?.() !== ROOT) return undefined;
  const owner = await ownerOf(folder, options.isEmpty === true);
  if (owner === undefined || owner.uid === ROOT) return undefined;
  const path = await realpath(folder);
  if ((await ownerOfNewFile(path)) === owner.uid) return undefined;
  return `${folder} belongs to the user with id ${owner.uid}, and this command runs as root: that user could not use the files that root creates\n  Instead, ${insteadOfRoot(path, owner, options)}`;
}

/** @param path path of the data folder, without symbolic links. */
export function insteadOfRoot(
  path: string,
  { uid, gid }: Owner,
  { command, reads, inUnit }: RefusedCommand,
): string {
  if (dirname(path) !== DYNAMIC_USER_FOLDER)
    return `run it as that user: setpriv --reuid=${uid} --regid=${gid} --clear-groups ${command}`;
  return inUnit ?? `run ${asUnit(basename(path), command, reads)}`;
}

/** Runs the command as the dynamic user of the unit `name`, which can only access the state folder of that name, and not /tmp. */
function asUnit(name: string, command: string, reads: string | undefined): string {
  const bind =
    reads === undefined ? '' : ` -p ${shellWord(`BindReadOnlyPaths=${systemdWord(reads)}`)}`;
  return `systemd-run --pipe --wait --collect -p DynamicUser=yes -p ${shellWord(`User=${name}`)} -p ${shellWord(`StateDirectory=${name}`)} -p StateDirectoryMode=0700 -p UMask=0077${bind} /opt/plinth/bin/${command}`;
}

/**
 * Quotes a path for a list in which a colon separates source and target. Source: systemd.syntax(7), "Quoting";
 * systemd.exec(5).
 */
function systemdWord(path: string): string {
  const escaped = path.replaceAll(/["\\:]/g, '\\$&');
  return /\s/.test(path) ? `"${escaped}"` : escaped;
}

/**
 * Returns the user id of files created by root: another user if the file system maps root, as NFS does with
 * `anonuid`; `undefined` if root cannot write.
 */
async function ownerOfNewFile(folder: string): Promise<number | undefined> {
  const path = join(folder, `.owner-probe-${process.pid}`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      return (await file.stat()).uid;
    } finally {
      await file.close();
      await rm(path);
    }
  } catch {
    return undefined;
  }
}

/**
 * Returns the owner of the data in `folder`, which can differ from the owner of the folder;
 * `undefined` without data.
 */
async function ownerOf(folder: string, isEmpty: boolean): Promise<Owner | undefined> {
  const paths = isEmpty ? [folder] : [STORE_FILE, VERSION_FILE].map((name) => join(folder, name));
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
