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
 * @param options.command the command line, without secrets.
 * @param options.inUnit what to do instead where a systemd unit owns the folder; unless given, the command runs as a unit of its own.
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

/** A command that runs as the dynamic user of the unit `name`, whose state folder has the same name. */
const asUnit = (name: string, command: string): string =>
  `systemd-run --pipe --wait --collect -p DynamicUser=yes -p User=${name} -p StateDirectory=${name} -p StateDirectoryMode=0700 -p UMask=0077 /opt/plinth/bin/${command}`;

/** The owner of the data in `folder`, who may not own the folder itself; `undefined` without data. */
async function ownerOf(
  folder: string,
  isEmpty: boolean,
): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  const paths = isEmpty ? [folder] : [STORE_FILE, VERSION_FILE].map((name) => join(folder, name));
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
