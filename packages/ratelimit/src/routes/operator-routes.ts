import {
  type ApiConventions,
  type ClientAddresses,
  type Clock,
  docsBaseAt,
  emptyResponse,
  githubResponse,
  type HttpRequest,
  jsonOf,
  type Logger,
  OpenApi,
  operatorDocs,
  operatorRoute,
  pageSize,
  queryOf,
  type Random,
  type Route,
  type RouteGroup,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { RateLimitConfig } from '../config.js';
import type { DecisionService } from '../domain/decision-service.js';
import type { Limiter } from '../domain/limiter.js';
import type { Profiles } from '../domain/profiles.js';
import { REJECTION_COUNT_WINDOW_MS, type RejectedCaller } from '../domain/rejection-counts.js';
import { rateLimitError } from '../errors.js';
import { type Caller, parseKey } from '../model/caller.js';
import type { Ban } from '../model/decision.js';
import { UNLIMITED } from '../model/resource.js';
import { checkAll, checkOne, fieldsOf } from './check-route.js';
import {
  Ban as BanSchema,
  CheckBatchBody,
  CheckBody,
  CostOfRoute,
  Count,
  Decision,
  Decisions,
  Finish,
  MAX_BATCH_COUNT,
  MAX_COUNT,
  NewBan,
  Rejections,
  USUAL_COUNT,
  Usage,
} from './description.js';
import type { RouteListing } from './route-listing.js';
import { errorResponse } from './to-wire.js';
import type { ResponseContext } from './wire-response.js';

const PATH = '/rate-limits';

const BY_CHECK = 'each check is validated separately';
const BY_HAND = 'an invalid count is treated as absent';
const BAD_KEY = { 422: 'invalid identity key' } as const;

const { response, json } = OpenApi;

export interface OperatorDeps {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
  readonly decisions: DecisionService;
  readonly profiles: Profiles;
  readonly routes: RouteListing;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onUnban: (identity: string) => void;
}

/** Source: rate-limits, sections 3.2, 9, 12.1 and 17. */
export function operatorRouteGroup(conventions: ApiConventions, deps: OperatorDeps): RouteGroup {
  return {
    conventions,
    api: 'ratelimit',
    errorResponse: (error, request) =>
      errorResponse(error, { log: deps.log, documentationUrl: operatorDocs(request) }),
    routes: [
      ...checkRoutes(deps),
      ...banRoutes(deps),
      ...listRoutes(deps),
      ...identityRoutes(deps),
    ],
  };
}

function checkRoutes(deps: OperatorDeps): readonly Route[] {
  const { config, decisions, clock } = deps;
  const contextOf = ({ base }: HttpRequest): ResponseContext => ({
    config,
    docsBase: docsBaseAt(config, base),
    clock,
  });
  return [
    operatorRoute('POST', `${PATH}/check`, {
      about: { summary: 'Check a request and charge it' },
      input: { body: CheckBody },
      output: { 200: response('the decision', json(Decision)) },
      errors: { 422: 'the check is invalid' },
      handle: async (request, { body }) =>
        githubResponse(200, await checkOne(deps, body, contextOf(request))),
    }),
    operatorRoute('POST', `${PATH}/check-batch`, {
      maxBytes: MAX_BATCH_COUNT * 4_096,
      about: { summary: 'Check and charge up to 1,000 requests' },
      input: { body: CheckBatchBody, validation: BY_CHECK },
      output: { 200: response('the decisions in request order', json(Decisions)) },
      errors: { 422: 'a check is invalid, or the batch is too large' },
      async handle(request) {
        const body = jsonOf(request.body);
        const isList = Array.isArray(body);
        const checks: unknown = isList ? body : fieldsOf(body)['checks'];
        if (!Array.isArray(checks) || checks.length > MAX_BATCH_COUNT) {
          throw rateLimitError(
            'check_invalid',
            `checks must be a list of at most ${MAX_BATCH_COUNT} entries`,
          );
        }
        const results = await checkAll(deps, checks, contextOf(request));
        return githubResponse(200, isList ? results : { results });
      },
    }),
    operatorRoute('POST', `${PATH}/finish`, {
      about: { summary: 'Finish a lease' },
      input: { body: Finish },
      output: { 204: response('slot released') },
      errors: { 404: 'lease not found or already finished', 422: 'a field is invalid' },
      handle(_request, { body: { lease_id, status = 200, cpu_ms = 0 } }) {
        decisions.finish(lease_id, { cpuMs: cpu_ms, status });
        return emptyResponse(204);
      },
    }),
  ];
}

function banRoutes({ config, limiter, addresses, onUnban }: OperatorDeps): readonly Route[] {
  const { store } = limiter;
  return [
    operatorRoute('GET', `${PATH}/bans`, {
      about: { summary: 'List bans' },
      input: { query: Type.Object(Count), validation: BY_HAND },
      output: { 200: response('bans', json(Type.Object({ bans: Type.Array(BanSchema) }))) },
      async handle(request) {
        const bans = await store.bans(countOf(request));
        return githubResponse(200, { bans: bans.map(banToWire) });
      },
    }),
    operatorRoute('POST', `${PATH}/bans`, {
      about: { summary: 'Ban an identity' },
      input: { body: NewBan },
      output: { 201: response('identity banned', json(BanSchema)) },
      errors: { 422: 'a field is invalid' },
      async handle(_request, { body: { identity, duration_seconds } }) {
        const key = keyOf(addresses, identity);
        await store.ban(key, duration_seconds ?? config.ban_minutes * 60);
        const ban = await store.banOf(key);
        return githubResponse(201, ban === undefined ? { identity: key } : banToWire(ban));
      },
    }),
    operatorRoute('DELETE', `${PATH}/bans/:identity`, {
      about: { summary: 'Remove a ban' },
      output: { 204: response('ban removed') },
      errors: { ...BAD_KEY, 404: 'the identity is not banned' },
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        if (!(await store.unban(key))) throw rateLimitError('ban_unknown');
        onUnban(key);
        return emptyResponse(204);
      },
    }),
  ];
}

function listRoutes({ limiter, profiles, routes }: OperatorDeps): readonly Route[] {
  const { store, resources } = limiter;
  const { nullable } = OpenApi;
  const user = Type.Object({
    identity: Type.String(),
    used: Type.Integer(),
    limit: nullable(Type.Integer()),
    reset: nullable(Type.Integer({ description: 'seconds since 1970' })),
  });
  const topUsers = Type.Object({ resource: Type.String(), top: Type.Array(user) });
  return [
    operatorRoute('GET', `${PATH}/routes`, {
      about: { summary: 'List the cost of each rate-limited route' },
      output: { 200: response('costs', json(Type.Object({ routes: Type.Array(CostOfRoute) }))) },
      handle: () => githubResponse(200, { routes: routes.list() }),
    }),
    operatorRoute('GET', `${PATH}/top`, {
      about: { summary: 'List the top consumers of a resource' },
      input: {
        query: Type.Object({
          resource: Type.Optional(Type.String({ default: 'core' })),
          ...Count,
        }),
        validation: BY_HAND,
      },
      output: { 200: response('identities, highest usage first', json(topUsers)) },
      errors: { 422: 'unknown resource' },
      async handle(request) {
        const name = queryParameter(request, 'resource') ?? 'core';
        const resource = resources.find(name);
        if (resource === undefined)
          throw rateLimitError('check_invalid', `unknown resource ${name}`);
        const users = await store.top(resource, countOf(request));
        const top = await Promise.all(
          users.map(async ({ identity, used }) => {
            const caller = limiter.callers.ofKey(identity, await profiles.of(identity));
            const isLimited = caller && caller.limits.limit[resource.index] !== UNLIMITED;
            const [report] = isLimited ? await limiter.report(caller, [resource]) : [];
            return { identity, used, limit: report?.limit ?? null, reset: report?.reset ?? null };
          }),
        );
        return githubResponse(200, { resource: name, top });
      },
    }),
    operatorRoute('GET', `${PATH}/rejected`, {
      about: { summary: 'List the identities with the most rejected requests on this node' },
      input: { query: Type.Object(Count), validation: BY_HAND },
      output: { 200: response('identities, most rejected requests first', json(Rejections)) },
      handle(request) {
        const found = limiter.rejections.report(countOf(request));
        return githubResponse(200, {
          window_start: found.windowStartMs / 1000,
          window_seconds: REJECTION_COUNT_WINDOW_MS / 1000,
          rejected: found.callers.map((one) => ({
            identity: one.identity,
            ...rejectedToWire(one),
          })),
          identities: found.callerCount,
          other_requests: found.otherCount,
        });
      },
    }),
  ];
}

function identityRoutes({ limiter, addresses, profiles }: OperatorDeps): readonly Route[] {
  const { store, resources } = limiter;
  return [
    operatorRoute('GET', `${PATH}/:identity`, {
      about: { summary: 'Get all counters of an identity' },
      output: { 200: response('used and remaining requests', json(Usage)) },
      errors: BAD_KEY,
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        const caller = limiter.callers.ofKey(key, await profiles.of(key));
        if (caller === undefined) throw rateLimitError('identity_key_invalid');
        const [buckets, secondary, ban] = await Promise.all([
          bucketsOf(limiter, caller),
          store.secondaryUsage(key),
          store.banOf(key),
        ]);
        const rejected = limiter.rejections.of(key);
        return githubResponse(200, {
          identity: key,
          buckets,
          secondary,
          ban: ban === undefined ? null : { until: ban.untilSec, level: ban.level },
          rejected: rejected === undefined ? null : rejectedToWire(rejected),
        });
      },
    }),
    operatorRoute('POST', `${PATH}/:identity/reset`, {
      about: { summary: "Reset an identity's counters" },
      output: { 204: response('forgotten') },
      errors: BAD_KEY,
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        await store.reset(key, resources.buckets);
        return emptyResponse(204);
      },
    }),
  ];
}

async function bucketsOf(limiter: Limiter, caller: Caller): Promise<object> {
  const limited = limiter.resources.all.filter(
    ({ index }) => caller.limits.limit[index] !== UNLIMITED,
  );
  const reports = await limiter.report(caller, limited);
  return Object.fromEntries(limited.map(({ name }, index) => [name, reports[index]]));
}

function keyOf(addresses: ClientAddresses, identity: unknown): string {
  const key = typeof identity === 'string' ? addresses.keyOf(identity) : undefined;
  if (key === undefined || parseKey(key) === undefined)
    throw rateLimitError('identity_key_invalid');
  return key;
}

const queryParameter = ({ url }: HttpRequest, name: string): string | null =>
  new URLSearchParams(queryOf(url)).get(name);

const countOf = (request: HttpRequest): number =>
  pageSize(queryParameter(request, 'limit'), USUAL_COUNT, MAX_COUNT);

const banToWire = ({ identity, untilSec, level }: Ban): object => ({
  identity,
  until: untilSec,
  level,
});

const rejectedToWire = ({ current, previous, limits, lastMs }: RejectedCaller): object => ({
  ...{ current, previous, limits },
  last: Math.floor(lastMs / 1000),
});
