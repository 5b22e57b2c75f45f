import {
  ACTIONS,
  type Action,
  ALL_RESOURCES,
  OPENABLE_ENDPOINTS,
  type Permission,
} from '@plinth/kernel';

/**
 * Resources that can be granted: databases by their names, and server endpoints for monitoring or
 * backups.
 */
/** Resource name of type `system`. */
export const BACKUP_RESOURCE = 'backup';
const SYSTEM_RESOURCES = [...OPENABLE_ENDPOINTS, BACKUP_RESOURCE] as const;
const RESOURCE_TYPES = ['db', 'system'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const MAX_PERMISSIONS = 100;
export const MAX_NAMES = 1000;
export const MAX_NAME_LENGTH = 511;

/** A permission from a client; only its JSON types are checked. */
export interface GivenPermission {
  readonly resource_type: string;
  readonly names: readonly string[];
  readonly actions: readonly string[];
}

/** Validates a permission; returns it or a fault message. */
export function readPermission({
  resource_type: resource,
  names,
  actions,
}: GivenPermission): { readonly permission: Permission } | { readonly fault: string } {
  if (!isOneOf(RESOURCE_TYPES, resource)) {
    return { fault: `unknown resource type '${shown(resource)}', expected db or system` };
  }
  if (names.length === 0) return { fault: 'a permission must name at least one resource, or *' };
  if (actions.length === 0) return { fault: 'a permission must name at least one action' };
  const allowed = new Set<Action>();
  for (const action of actions) {
    if (action === '*') for (const each of actionsOf(resource)) allowed.add(each);
    else if (isOneOf(ACTIONS, action)) allowed.add(action);
    else return { fault: `unknown action '${shown(action)}', expected read, write or *` };
  }
  if (resource === 'system' && allowed.has('write')) {
    return { fault: "resources of the type 'system' allow only the action 'read'" };
  }
  for (const name of names) {
    const fault = name === ALL_RESOURCES ? undefined : nameFault(resource, name);
    if (fault !== undefined) return { fault };
  }
  return {
    permission: {
      resource,
      names: [...new Set(names)],
      actions: ACTIONS.filter((action) => allowed.has(action)),
    },
  };
}

const actionsOf = (resource: ResourceType): readonly Action[] =>
  resource === 'system' ? ['read'] : ACTIONS;

const DATABASE_NAME = /^(?:_internal|[A-Za-z0-9][A-Za-z0-9_-]*)$/;

function nameFault(resource: ResourceType, name: string): string | undefined {
  if (resource === 'system') {
    return isOneOf(SYSTEM_RESOURCES, name)
      ? undefined
      : `unknown system resource '${shown(name)}', expected ${SYSTEM_RESOURCES.join(', ')} or *`;
  }
  if (name.includes('/')) {
    return `'${shown(name)}' names a retention policy; grant the database instead`;
  }
  return DATABASE_NAME.test(name) ? undefined : `'${shown(name)}' is not a valid database name`;
}

const isOneOf = <T extends string>(all: readonly T[], text: string): text is T =>
  all.some((each) => each === text);

/** Truncates client text for an error message. */
const shown = (text: string): string => text.slice(0, 100);
