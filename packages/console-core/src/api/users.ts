import { quoteText } from '../lib/query/identifiers.js';
import { sendForJson } from './client.js';

/** An InfluxDB 1.x user, who logs in with a password. */
export interface User {
  readonly name: string;
  readonly isAdmin: boolean;
  readonly grants: readonly Grant[];
}

export interface Grant {
  readonly database: string;
  readonly privilege: string;
}

export const PRIVILEGES = ['READ', 'WRITE', 'ALL'] as const;
export type Privilege = (typeof PRIVILEGES)[number];

interface Result {
  readonly error?: string;
  readonly series?: readonly { readonly values?: readonly (readonly unknown[])[] }[];
}

/**
 * Users can be managed only with statements. They are sent in the POST body, so that copied commands contain no
 * passwords.
 */
async function query(statements: readonly string[]): Promise<readonly (readonly unknown[])[][]> {
  const { results } = await sendForJson<{ readonly results: readonly Result[] }>('/query', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ q: statements.join('; ') }).toString(),
  }).catch((error: unknown) => {
    throw new Error(error instanceof Error ? error.message : String(error));
  });
  const failed = results.find(({ error }) => error !== undefined);
  if (failed !== undefined) throw new Error(failed.error);
  return results.map(({ series = [] }) => [...(series[0]?.values ?? [])]);
}

const named = (name: string): string => `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
const text = (password: string): string => quoteText(password, 'influxql');

export async function fetchUsers(): Promise<readonly User[]> {
  const [rows = []] = await query(['SHOW USERS']);
  if (rows.length === 0) return [];
  const names = rows.map(([name]) => String(name));
  const grants = await query(names.map((name) => `SHOW GRANTS FOR ${named(name)}`));
  return rows.map(([, isAdmin], index) => ({
    name: names[index] ?? '',
    isAdmin: isAdmin === true,
    grants: (grants[index] ?? []).map(([database, privilege]) => ({
      database: String(database),
      privilege: String(privilege),
    })),
  }));
}

export const createUser = (name: string, password: string, isAdmin: boolean): Promise<unknown> =>
  query([
    `CREATE USER ${named(name)} WITH PASSWORD ${text(password)}${isAdmin ? ' WITH ALL PRIVILEGES' : ''}`,
  ]);

export const setPassword = (name: string, password: string): Promise<unknown> =>
  query([`SET PASSWORD FOR ${named(name)} = ${text(password)}`]);

export const deleteUser = (name: string): Promise<unknown> => query([`DROP USER ${named(name)}`]);

/** @param database absent to grant admin access. */
export const grant = (name: string, privilege: Privilege, database?: string): Promise<unknown> =>
  query([`GRANT ${what(privilege, database)} TO ${named(name)}`]);

export const revoke = (name: string, privilege: Privilege, database?: string): Promise<unknown> =>
  query([`REVOKE ${what(privilege, database)} FROM ${named(name)}`]);

const what = (privilege: Privilege, database: string | undefined): string =>
  database === undefined ? 'ALL PRIVILEGES' : `${privilege} ON ${named(database)}`;
