import type { FirstTokenState } from '@plinth/identity';
import {
  type ApiConventions,
  type Clock,
  type HttpHead,
  type HttpService,
  jsonResponse,
  OpenApi,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { ServiceName } from '../settings.js';

/** Fields for all clients; the optional ones are for admins. */
const Info = Type.Object({
  product: Type.Literal('plinth'),
  version: Type.String(),
  build: Type.String({ description: 'changes with every build of the console' }),
  setup_needed: Type.Boolean({
    description: 'no token exists yet, and the first one can be created',
  }),
  first_token: Type.Optional(
    Type.Union([Type.Literal('open'), Type.Literal('claim_code'), Type.Literal('anyone')], {
      description:
        'requirement for the first token: `open`: none for this client; `claim_code`: the claim code; `anyone`: none for any client (`server.first_token`)',
    }),
  ),
  auth: Type.Boolean({ description: 'false: the server requires no token' }),
  services: Type.Array(Type.String()),
  node_id: Type.Optional(Type.String()),
  cores: Type.Optional(Type.Integer()),
  started: Type.Optional(Type.String({ format: 'date-time' })),
  now: Type.Optional(Type.String({ format: 'date-time' })),
  relational_store: Type.Optional(Type.String({ description: 'sqlite or postgresql' })),
  public_url: Type.Optional(Type.String()),
});

export interface ServerFacts {
  readonly version: string;
  readonly isAuthRequired: boolean;
  readonly services: readonly ServiceName[];
  /** Only for admins. */
  readonly inner: Readonly<Record<string, string | number>>;
}

/** Basic facts about this server for clients. */
export function createServerInfo(deps: {
  readonly conventions: ApiConventions;
  readonly facts: ServerFacts;
  readonly clock: Clock;
  /** Returns the state of the first token; `undefined` if a token exists, or if the server requires none. */
  firstTokenState(request: HttpHead): FirstTokenState | undefined;
  /** Checks the token of a request, because this route is public. */
  isAdmin(request: HttpHead): boolean;
  /** Returns the build of the console; `undefined` if it is not built. */
  build(): Promise<string | undefined>;
}): HttpService {
  const { conventions, facts, clock } = deps;
  const startedMs = clock.nowMs();
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    name: 'info',
    routeGroups: () => [
      {
        conventions,
        api: 'operator',
        routes: [
          {
            method: 'GET',
            path: '/ops/v1/info',
            access: 'public',
            about: {
              summary: 'Get server information, including whether a first token is needed',
              description: 'With an admin token the response has more fields.',
            },
            output: { 200: OpenApi.response('the server', OpenApi.json(Info)) },
            async handle(request) {
              const { version, isAuthRequired, services, inner } = facts;
              const firstToken = deps.firstTokenState(request);
              return jsonResponse(200, {
                product: 'plinth',
                version,
                build: (await deps.build()) ?? version,
                setup_needed: firstToken !== undefined,
                ...(firstToken !== undefined && { first_token: firstToken }),
                auth: isAuthRequired,
                services,
                ...(deps.isAdmin(request) && {
                  ...inner,
                  started: iso(startedMs),
                  now: iso(clock.nowMs()),
                }),
              });
            },
          },
        ],
      },
    ],
    async start() {},
    async close() {},
  };
}
