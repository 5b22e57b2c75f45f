import { readFile } from 'node:fs/promises';

/** The user as which plugin processes run. */
export interface PluginUser {
  /** As in the setting. */
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** If the configured user is unavailable, no plugin runs. */
export type FoundUser =
  | { readonly kind: 'found'; readonly user: PluginUser | undefined }
  | { readonly kind: 'unavailable'; readonly why: string };

const PASSWD = '/etc/passwd';

/**
 * Finds the user of a setting, by name or number; `undefined` if the server already runs as that
 * user.
 * @param ownUid user id of this process.
 */
export async function findPluginUser(name: string | undefined, ownUid: number): Promise<FoundUser> {
  if (name === undefined) return { kind: 'found', user: undefined };
  const user = parseUser(name, await readFile(PASSWD, 'utf8').catch(() => ''));
  if (user === undefined) {
    const why = `user ${name} is not in ${PASSWD}; set tsdb.plugin_user to an existing user, or to a number`;
    return { kind: 'unavailable', why };
  }
  if (user.uid === ownUid) return { kind: 'found', user: undefined };
  if (ownUid === 0) return { kind: 'found', user };
  const why = `tsdb.plugin_user is ${name}, but the server runs as user ${ownUid}, and only root can start processes of other users; start it as root, or as ${name}`;
  return { kind: 'unavailable', why };
}

/** Source: passwd(5). A number without an entry is a user without a name, as in many containers. */
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
