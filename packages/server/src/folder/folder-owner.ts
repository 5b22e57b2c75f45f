import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { STORE_FILE, VERSION_FILE } from './file-names.js';

const ROOT = 0;
/** Where systemd keeps the state of units with `DynamicUser=`; other users cannot enter it. */
const DYNAMIC_USER_FOLDER = '/var/lib/private';

/**
 * Why this process must not write into `folder`, and what to run instead; `undefined`: it may. Root could, but its files would keep
 * the server's own user from starting. Other users than root are judged by the rights of the folder.
 * @param options.command as it is typed, without secrets.
 * @param options.inUnit what to do instead where a systemd unit owns the folder; unless given, the command runs as a unit of its own.
 * @param options.isEmpty the folder is about to become a data folder, so its own owner counts.
 */
export async function refusalForRoot(
  folder: string,
  options: {
    readonly command: string;
    readonly inUnit?: string;
    readonly isEmpty?: boolean;
  },
): Promise<string | undefined> {
  if (process.geteuid?.() !== ROOT) return undefined;
  const owner = await ownerOf(folder, options.isEmpty === true);
  if (owner === undefined || owner.uid === ROOT) return undefined;
  const { uid, gid } = owner;
  const path = await realpath(folder);
  const isOfUnit = dirname(path) === DYNAMIC_USER_FOLDER;
  const asUser = `run it as that user: setpriv --reuid=${uid} --regid=${gid} --clear-groups ${options.command}`;
  const inUnit = options.inUnit ?? `run ${asUnit(basename(path), options.command)}`;
  return `${folder} belongs to the user with id ${uid}, and this command runs as root: that user could not use the files that root creates\n  Instead, ${isOfUnit ? inUnit : asUser}`;
}

/** As the dynamic user of the unit `name`, which has the folder of that name. */
const asUnit = (name: string, command: string): string =>
  `systemd-run --pipe --wait --collect -p DynamicUser=yes -p User=${name} -p StateDirectory=${name} -p StateDirectoryMode=0700 -p UMask=0077 /opt/plinth/bin/${command}`;

/** Of the data in `folder`, whether or not this user owns the folder; `undefined`: there is none. */
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
