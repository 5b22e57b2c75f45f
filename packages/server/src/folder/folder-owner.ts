import { open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '../shell-word.js';
import { STORE_FILE, VERSION_FILE } from './file-names.js';

const ROOT = 0;
/** Where systemd keeps the state of units with `DynamicUser=`; other users cannot enter it. */
const DYNAMIC_USER_FOLDER = '/var/lib/private';

export interface RefusedCommand {
  /** As it is typed, without secrets. */
  readonly command: string;
  /** A file or folder elsewhere that it reads. */
  readonly reads?: string;
  /** What to do instead where a systemd unit owns the folder; unless given, the command runs as a unit of its own. */
  readonly inUnit?: string;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Why this process must not write to `folder`, and what to run instead; `undefined`: it may. Files of root would keep the server's
 * user from starting the server. For other users, the permissions of the folder decide.
 * @param options.isEmpty the folder is about to become a data folder, so its own owner counts.
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

/** @param path of the data folder, without symbolic links. */
export function insteadOfRoot(
  path: string,
  { uid, gid }: Owner,
  { command, reads, inUnit }: RefusedCommand,
): string {
  if (dirname(path) !== DYNAMIC_USER_FOLDER)
    return `run it as that user: setpriv --reuid=${uid} --regid=${gid} --clear-groups ${command}`;
  return inUnit ?? `run ${asUnit(basename(path), command, reads)}`;
}

/** As the dynamic user of the unit `name`, which has the folder of that name and sees neither those of others nor /tmp. */
function asUnit(name: string, command: string, reads: string | undefined): string {
  const bind =
    reads === undefined ? '' : ` -p ${shellWord(`BindReadOnlyPaths=${systemdWord(reads)}`)}`;
  return `systemd-run --pipe --wait --collect -p DynamicUser=yes -p ${shellWord(`User=${name}`)} -p ${shellWord(`StateDirectory=${name}`)} -p StateDirectoryMode=0700 -p UMask=0077${bind} /opt/plinth/bin/${command}`;
}

/** In a list of paths, where a colon separates source and target. Source: systemd.syntax(7), "Quoting"; systemd.exec(5). */
function systemdWord(path: string): string {
  const escaped = path.replaceAll(/["\\:]/g, '\\$&');
  return /\s/.test(path) ? `"${escaped}"` : escaped;
}

/** Not root where the file system maps it, as NFS does with `anonuid`; `undefined`: root cannot write there. */
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

/** The owner of the data in `folder`, who may not own the folder itself; `undefined` without data. */
async function ownerOf(folder: string, isEmpty: boolean): Promise<Owner | undefined> {
  const paths = isEmpty ? [folder] : [STORE_FILE, VERSION_FILE].map((name) => join(folder, name));
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
