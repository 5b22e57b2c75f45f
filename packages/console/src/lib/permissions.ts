interface Permission {
  readonly resource_type: string;
  readonly resource_identifier: readonly string[];
  readonly actions: readonly string[];
}

/** `db:a,b:read,write`, several parted by blanks or `;`; `undefined` for what is none. The server judges the words. */
export function parsePermissions(text: string): readonly Permission[] | undefined {
  const parts = text.split(/[;\s]+/).filter((part) => part !== '');
  const permissions = parts.map((part) => /^([^:]+):([^:]+):([^:]+)$/.exec(part));
  if (permissions.includes(null)) return undefined;
  return permissions.map((found) => {
    const [, resource_type = '', names = '', actions = ''] = found ?? [];
    return { resource_type, resource_identifier: names.split(','), actions: actions.split(',') };
  });
}

/** Of a token, as a person reads it. */
export const permissionsText = (permissions: string): string =>
  permissions === '*:*:*' ? 'everything' : permissions.replaceAll(';', ' ');
