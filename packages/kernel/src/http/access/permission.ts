export type Action = 'read' | 'write';
export const ACTIONS: readonly Action[] = ['read', 'write'];

/** Matches all resources of a type. */
export const ALL_RESOURCES = '*';

/** The allowed actions on resources of one type. */
export interface Permission {
  /** The resource type. */
  readonly resource: string;
  /** Resource names; `ALL_RESOURCES` matches all of the type. */
  readonly names: readonly string[];
  readonly actions: readonly Action[];
}

/** Whether the permissions allow a request; denied by default. No other code compares permissions with requests. */
export function permits(
  permissions: readonly Permission[],
  requested: { readonly resource: string; readonly name: string; readonly action: Action },
): boolean {
  return permissions.some(
    ({ resource, names, actions }) =>
      resource === requested.resource &&
      actions.includes(requested.action) &&
      (names.includes(requested.name) || names.includes(ALL_RESOURCES)),
  );
}

/** The command-line form: `type:name,name:action,action`. */
export const permissionText = ({ resource, names, actions }: Permission): string =>
  `${resource}:${names.join(',')}:${actions.join(',')}`;
