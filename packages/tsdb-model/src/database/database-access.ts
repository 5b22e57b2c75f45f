import { type Action, type Permission, type Principal, permits } from '@plinth/kernel';
import { databaseOfPolicy, INTERNAL_DATABASE } from './names.js';

/** The databases that a caller may read and write. */
export interface DatabaseAccess {
  /** Owner of the queries: only administrators see the queries of others. */
  readonly owner: string;
  /** Grants all databases, and the statements that change databases and users. */
  readonly isAdministrator: boolean;
  /**
   * Also grants the operator's resources: plugins with their arguments and logs, all tokens, the
   * audit log.
   */
  readonly isOperator: boolean;
  /**
   * Principal whose deletion stops the queries; `undefined` for the server's own queries and if no credential is required.
   */
  readonly principal: Principal | undefined;
  mayRead(database: string): boolean;
  mayWrite(database: string): boolean;
}

/** For operators, and for the server itself. */
export const FULL_ACCESS: DatabaseAccess = {
  owner: '',
  isAdministrator: true,
  isOperator: true,
  principal: undefined,
  mayRead: () => true,
  mayWrite: () => true,
};

const NO_ACCESS: DatabaseAccess = {
  owner: 'nobody',
  isAdministrator: false,
  isOperator: false,
  principal: undefined,
  mayRead: () => false,
  mayWrite: () => false,
};

const KNOWN = new WeakMap<Principal, DatabaseAccess>();

/**
 * Returns the access of a request's principal. Anonymous requests have no access, unless the server requires no
 * credentials.
 * @param isAuthRequired setting of the server
 */
export function accessOf(principal: Principal, isAuthRequired: boolean): DatabaseAccess {
  switch (principal.kind) {
    case 'admin':
    case 'grantee': {
      let access = KNOWN.get(principal);
      if (access === undefined) {
        access = { ...ofPrincipal(principal), principal };
        KNOWN.set(principal, access);
      }
      return access;
    }
    case 'anonymous':
      return isAuthRequired ? NO_ACCESS : FULL_ACCESS;
    default:
      return NO_ACCESS;
  }
}

function ofPrincipal(principal: Extract<Principal, { kind: 'admin' | 'grantee' }>): DatabaseAccess {
  if (principal.kind === 'admin') return FULL_ACCESS;
  const { owner, permissions, isAdministrator } = principal;
  return isAdministrator
    ? { ...FULL_ACCESS, isOperator: false, owner }
    : granted(owner, permissions);
}

/**
 * Returns the granted access. Permissions on a database also apply to its retention policies, which are databases
 * `db/policy`.
 */
function granted(owner: string, permissions: readonly Permission[]): DatabaseAccess {
  const may = (action: Action) => (database: string) => {
    const name = databaseOfPolicy(database) ?? database;
    // A permission on all databases excludes `_internal`, which contains data about others; it must be granted by name.
    const permitted =
      name === INTERNAL_DATABASE
        ? permissions.filter(({ names }) => names.includes(INTERNAL_DATABASE))
        : permissions;
    return permits(permitted, { resource: 'db', name, action });
  };
  return { ...NO_ACCESS, owner, mayRead: may('read'), mayWrite: may('write') };
}
