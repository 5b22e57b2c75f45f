import { type Action, type Permission, type Principal, permits } from '@plinth/kernel';
import { INTERNAL_DATABASE, ownerOf } from '../schema/names.js';

/** What somebody may do with which databases. */
export interface DatabaseAccess {
  /** Whose queries these are: only administrators see those of others. */
  readonly owner: string;
  /** All databases, and the statements that change databases and users. */
  readonly isAdministrator: boolean;
  /** Also what belongs to the operator: plugins with their arguments and logs, all tokens, the audit log. */
  readonly isOperator: boolean;
  /** Principal whose deletion stops the queries; `undefined` for the server's own and where no credential is required. */
  readonly principal: Principal | undefined;
  mayRead(database: string): boolean;
  mayWrite(database: string): boolean;
}

/** Of operators, and of the server itself. */
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
 * What whoever sent a request may do. Nobody in particular may do nothing, but where no credential is asked for.
 * @param isAuthRequired of the server
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

/** What is granted on a database holds for its retention policies, which are databases `db/policy`. */
function granted(owner: string, permissions: readonly Permission[]): DatabaseAccess {
  const may = (action: Action) => (database: string) => {
    const name = ownerOf(database) ?? database;
    // Not among all databases: what it tells is of others, so that it is granted by its name alone.
    const held =
      name === INTERNAL_DATABASE
        ? permissions.filter(({ names }) => names.includes(INTERNAL_DATABASE))
        : permissions;
    return permits(held, { resource: 'db', name, action });
  };
  return { ...NO_ACCESS, owner, mayRead: may('read'), mayWrite: may('write') };
}
