import type { FirstTokenState } from '@plinth/identity';
import {
  type Clock,
  type Dialect,
  type HttpHead,
  type HttpService,
  jsonAnswer,
  OpenApi,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { ServiceName } from '../settings.js';

/** What is told to everybody; what an admin is told beside it is optional. */
const Info = Type.Object({
  product: Type.Literal('plinth'),
  version: Type.String(),
  build: Type.String({ description: 'changes with every build of the console' }),
  setup_needed: Type.Boolean({ description: 'there is no token yet, and the first one is free' }),
  first_token: Type.Optional(
    Type.Union([Type.Literal('open'), Type.Literal('claim_code'), Type.Literal('anyone')], {
      description:
        'while there is no token, what creating the first one takes: `open`: nothing from this client; `claim_code`: the claim code; `anyone`: no client needs a code (`server.first_token`)',
    }),
  ),
  auth: Type.Boolean({ description: 'false: the server asks for no token' }),
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
  /** Told to admins alone. */
  readonly inner: Readonly<Record<string, string | number>>;
}

/** What kind of server this is, for whoever is about to talk to it. */
export function createServerInfo(needs: {
  readonly dialect: Dialect;
  readonly facts: ServerFacts;
  readonly clock: Clock;
  /** `undefined`: there is a token, or the server needs none. */
  firstTokenState(request: HttpHead): FirstTokenState | undefined;
  /** Of a request whose token nobody has looked at yet: the route is for everybody. */
  isAdmin(request: HttpHead): boolean;
  /** Of the console; `undefined`: it is not built. */
  build(): Promise<string | undefined>;
}): HttpService {
  const { dialect, facts, clock } = needs;
  const startedMs = clock.nowMs();
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    name: 'info',
    tables: () => [
      {
        dialect,
        api: 'operator',
        routes: [
          {
            method: 'GET',
            path: '/ops/v1/info',
            access: 'public',
            about: {
              summary: 'What runs here, and whether the first token is still to be made',
              description: 'With an admin token the answer says more.',
            },
            output: { 200: OpenApi.answer('the server', OpenApi.json(Info)) },
            async handle(request) {
              const { version, isAuthRequired, services, inner } = facts;
              const firstToken = needs.firstTokenState(request);
              return jsonAnswer(200, {
                product: 'plinth',
                version,
                build: (await needs.build()) ?? version,
                setup_needed: firstToken !== undefined,
                ...(firstToken !== undefined && { first_token: firstToken }),
                auth: isAuthRequired,
                services,
                ...(needs.isAdmin(request) && {
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
