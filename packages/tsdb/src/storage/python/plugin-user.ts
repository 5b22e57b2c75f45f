import { readFile } from 'node:fs/promises';

/** Whom the processes of plugins run as. */
export interface PluginUser {
  /** As the setting names it. */
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** Without the user that was asked for no plugin runs at all. */
export type FoundUser =
  | { readonly kind: 'found'; readonly user: PluginUser | undefined }
  | { readonly kind: 'unavailable'; readonly why: string };

const PASSWD = '/etc/passwd';

/**
 * The user that a setting names, by name or number; `undefined` when that is who the server runs as.
 * @param ownUid of this process.
 */
export async function findPluginUser(name: string | undefined, ownUid: number): Promise<FoundUser> {
  if (name === undefined) return { kind: 'found', user: undefined };
  const user = parseUser(name, await readFile(PASSWD, 'utf8').catch(() => ''));
  if (user === undefined) {
    const why = `there is no user ${name} in ${PASSWD}: name one that is, or give tsdb.plugin_user its number`;
    return { kind: 'unavailable', why };
  }
  if (user.uid === ownUid) return { kind: 'found', user: undefined };
  if (ownUid === 0) return { kind: 'found', user };
  const why = `tsdb.plugin_user names ${name}, but only root can start processes of others and the server runs as user ${ownUid}: start it as root, or as ${name}`;
  return { kind: 'unavailable', why };
}

/** Source: passwd(5). A number without a line is a user without a name, as in many containers. */
export function parseUser(name: string, passwd: string): PluginUser | undefined {
  const isNumber = /^\d+$/.test(name);
  for (const line of passwd.split('\n')) {
    const [login, , uid = '', gid = '', , home = ''] = line.split(':');
    if (!/^\d+$/.test(uid) || !/^\d+$/.test(gid)) continue;
    if (isNumber ? Number(uid) !== Number(name) : login !== name) continue;
    return { name, uid: Number(uid), gid: Number(gid), home: home === '' ? '/' : home };
  }
  return isNumber ? { name, uid: Number(name), gid: Number(name), home: '/' } : undefined;
}
