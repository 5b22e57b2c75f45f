import { hash } from 'node:crypto';
import {
  bytesResponse,
  checkedRoute,
  emptyResponse,
  githubResponse,
  type HttpRequest,
  type HttpResponse,
  namesTag,
  OpenApi,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';

export const META_PATHS = ['/api/v3/meta', '/meta'] as const;
export const INSTALLATION_PATHS = ['/api/v3/app/installations', '/app/installations'] as const;

/** A token requested by an app for one of its installations. */
export interface InstallationToken {
  readonly token: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

/** `undefined` when the installation does not belong to the app. */
export type MintInstallationToken = (
  appId: number,
  installationId: number,
) => Promise<InstallationToken | undefined>;

const INSTALLATION_TOKEN = Type.Object({
  token: Type.String(),
  expires_at: Type.String({ format: 'date-time' }),
  permissions: Type.Object({}),
  repository_selection: Type.Literal('all'),
});

/**
 * For clients that query server capabilities. This endpoint also lets users see the rate limits in
 * effect.
 */
const META = { verifiable_password_authentication: false, installed_version: '3.0.0' };

/** Creates the GitHub endpoints that no other service provides. Source: rate-limits, sections 3.2 and 19. */
export function githubRoutes(deps: {
  /** Whether this service serves `/meta`. If the webhook service runs, that service serves it instead, with more fields. */
  readonly ownsMeta: boolean;
  readonly mint: MintInstallationToken;
  notFound(request: HttpRequest): HttpResponse;
}): readonly Route[] {
  const body = Buffer.from(JSON.stringify(META));
  const etag = `W/"${hash('sha256', body, 'hex')}"`;
  const caching = [
    ['etag', etag],
    ['cache-control', 'private, max-age=0, must-revalidate'],
  ] as const;
  const meta = META_PATHS.map(
    (path): Route => ({
      method: 'GET',
      path,
      access: 'public',
      about: { summary: 'Get the server capabilities' },
      output: {
        200: OpenApi.response('abilities', OpenApi.json(Type.Object({}))),
        304: OpenApi.response('not modified'),
      },
      errors: { 401: 'bad credentials' },
      handle: (request) =>
        namesTag(request.headers['if-none-match'], etag)
          ? emptyResponse(304, caching)
          : bytesResponse(200, 'application/json; charset=utf-8', body, caching),
    }),
  );
  const tokens = INSTALLATION_PATHS.map((path) =>
    checkedRoute({
      method: 'POST',
      path: `${path}/:id/access_tokens`,
      access: 'app',
      about: { summary: 'Create an installation token for the app' },
      output: { 201: OpenApi.response('the token', OpenApi.json(INSTALLATION_TOKEN)) },
      async handle(request) {
        const { principal, parameters } = request;
        const { id = '' } = parameters;
        const isId = /^[1-9]\d{0,15}$/.test(id);
        const minted = isId ? await deps.mint(principal.appId, Number(id)) : undefined;
        if (minted === undefined) return deps.notFound(request);
        return githubResponse(201, { ...minted, permissions: {}, repository_selection: 'all' });
      },
    }),
  );
  return [...(deps.ownsMeta ? meta : []), ...tokens];
}
