const KEY = 'plinth-last-database';
/** Contains the server's own metrics. */
const INTERNAL = '_internal';

/** The database that was last opened in this browser; empty for none. It may no longer exist. */
export const lastDatabase = (): string => localStorage.getItem(KEY) ?? '';

/** Stores the database of a page's address: `/console/data/home` or `?db=home`. */
export function noteDatabase({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  const [, path = ''] = /^\/console\/(?:data|triggers)\/([^/]+)/.exec(pathname) ?? [];
  const db = path === '' ? new URLSearchParams(search).get('db') : decodeURIComponent(path);
  if (db && db !== INTERNAL && db !== lastDatabase()) localStorage.setItem(KEY, db);
}
