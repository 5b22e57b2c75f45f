interface Permission {
  readonly resource_type: string;
  readonly resource_identifier: readonly string[];
  readonly actions: readonly string[];
}

/** Parses `db:a,b:read,write`, several separated by spaces or `;`. `undefined` for another form; the server validates the names. */
export function parsePermissions(text: string): readonly Permission[] | undefined {
  const parts = text.split(/[;\s]+/).filter((part) => part !== '');
  const permissions = parts.map((part) => /^([^:]+):([^:]+):([^:]+)$/.exec(part));
  if (permissions.includes(null)) return undefined;
  return permissions.map((found) => {
    const [, resource_type = '', names = '', actions = ''] = found ?? [];
    return { resource_type, resource_identifier: names.split(','), actions: actions.split(',') };
  });
}

/** Formats the permissions of a token in readable form. */
export const permissionsText = (permissions: string): string =>
  permissions === '*:*:*' ? 'full access (admin)' : permissions.replaceAll(';', ' ');
