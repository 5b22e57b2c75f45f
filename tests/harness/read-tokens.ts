import type { RunningServer } from './running-server.js';

type Authorization = { readonly authorization: string };

/** Creates the first token of a server, and for each name a token that may only read one database. */
export async function tokensThatRead<Name extends string>(
  server: RunningServer,
  database: string,
  names: readonly Name[],
): Promise<Readonly<Record<Name | 'admin', Authorization>>> {
  const first = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  const admin = { authorization: `Bearer ${JSON.parse(first.text).token}` };
  const made = names.map(async (name) => {
    const response = await server.http.send('/api/v3/enterprise/configure/token', {
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({
        token_name: name,
        permissions: [{ resource_type: 'db', resource_identifier: [database], actions: ['read'] }],
      }),
    });
    return [name, { authorization: `Bearer ${JSON.parse(response.text).token}` }];
  });
  return { admin, ...Object.fromEntries(await Promise.all(made)) };
}
