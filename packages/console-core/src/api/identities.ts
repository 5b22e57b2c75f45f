import { send, sendForJson } from './client.js';

/** An identity that rate limits apply to and that credentials authenticate as. */
export interface Identity {
  readonly key: string;
  readonly kind: IdentityKind;
  readonly id: number | string;
  readonly created_at: string;
  readonly updated_at: string;
  /** The attributes depend on the kind. */
  readonly [attribute: string]: unknown;
}

export const KINDS = ['user', 'organization', 'installation', 'oauth_app', 'repository'] as const;
export type IdentityKind = (typeof KINDS)[number];
export type Attributes = Readonly<Record<string, unknown>>;

/** The credential kinds for each identity kind. Those on behalf of an app also need the app's id. */
export const CREDENTIALS: Readonly<Partial<Record<IdentityKind, readonly string[]>>> = {
  user: ['personal', 'oauth', 'app_user'],
  installation: ['installation'],
  repository: ['workflow'],
};
export const isOfApp = (kind: string): boolean => kind === 'oauth' || kind === 'app_user';

export interface Credential {
  readonly id: number;
  readonly token: string;
}

const PATH = '/ops/v1/identities';
const CREDENTIAL_PATH = '/ops/v1/credentials';
const PAGE_SIZE = 100;

export interface IdentityPage {
  readonly identities: readonly Identity[];
  readonly next: string | undefined;
}

export async function fetchIdentities(cursor: string): Promise<IdentityPage> {
  const query = { per_page: PAGE_SIZE, ...(cursor !== '' && { cursor }) };
  const response = await send(PATH, { query });
  const [, next] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  return {
    identities: (await response.json()) as readonly Identity[],
    next: next === undefined ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined),
  };
}

export function attributesOf(identity: Identity): Attributes {
  const { key: _key, kind: _kind, id: _id, created_at: _at, updated_at: _on, ...others } = identity;
  return others;
}

/** @returns the secret of an OAuth app, which is returned only once. */
export const createIdentity = async (
  kind: IdentityKind,
  id: string,
  attributes: Attributes,
): Promise<{ readonly key: string; readonly secret?: string }> => {
  const own = id === '' ? {} : { id: kind === 'oauth_app' ? id : Number(id) };
  return await sendForJson(PATH, { body: { ...attributes, kind, ...own } });
};

/** Removes attributes that are missing in the request. */
export const changeIdentity = (identity: Identity, attributes: Attributes): Promise<unknown> => {
  const gone = Object.keys(attributesOf(identity)).filter((name) => !(name in attributes));
  const removed = Object.fromEntries(gone.map((name) => [name, null]));
  const body = { ...attributes, ...removed };
  return send(`${PATH}/${encodeURIComponent(identity.key)}`, { method: 'PATCH', body });
};

export const deleteIdentity = (key: string): Promise<unknown> =>
  send(`${PATH}/${encodeURIComponent(key)}`, { method: 'DELETE' });

export const createCredential = (body: {
  readonly kind: string;
  readonly identity: string;
  readonly via_app?: string;
  readonly expires_in?: number;
}): Promise<Credential> => sendForJson(CREDENTIAL_PATH, { body });

export const endCredential = (id: string): Promise<unknown> =>
  send(`${CREDENTIAL_PATH}/${encodeURIComponent(id)}`, { method: 'DELETE' });
