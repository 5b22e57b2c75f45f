export type Action = 'read' | 'write';
export const ACTIONS: readonly Action[] = ['read', 'write'];

/** Stands for all resources of a type. */
export const ALL_RESOURCES = '*';

/** What may be done with some resources of one type. */
export interface Permission {
  /** Type of the resources. */
  readonly resource: string;
  /** `ALL_RESOURCES` among them: all of that type. */
  readonly names: readonly string[];
  readonly actions: readonly Action[];
}

/** The one place where permissions are compared with what is asked for. Nothing is allowed that none of them says. */
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

/** `type:name,name:action,action`, as they are written on a command line. */
export const permissionText = ({ resource, names, actions }: Permission): string =>
  `${resource}:${names.join(',')}:${actions.join(',')}`;
