import {
  type ClientAddresses,
  type Clock,
  type Dialect,
  docsBaseAt,
  emptyAnswer,
  type HttpRequest,
  jsonOf,
  type Logger,
  OpenApi,
  operatorDocs,
  operatorRoute,
  pageSize,
  platformAnswer,
  queryOf,
  type Random,
  type Route,
  type RouteTable,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { RateLimitConfig } from '../config.js';
import type { DecisionService } from '../domain/decision-service.js';
import type { Limiter } from '../domain/limiter.js';
import type { Profiles } from '../domain/profiles.js';
import { rateLimitError } from '../errors.js';
import { type Caller, parseKey } from '../model/caller.js';
import type { Ban } from '../model/decision.js';
import { UNLIMITED } from '../model/resource.js';
import type { AnswerContext } from './answer.js';
import { checkAll, checkOne, fieldsOf } from './check-route.js';
import {
  Ban as BanSchema,
  CostOfRoute,
  Count,
  Decision,
  Decisions,
  Finish,
  MAX_BATCH_COUNT,
  MAX_COUNT,
  NewBan,
  Question,
  Questions,
  USUAL_COUNT,
  Usage,
} from './description.js';
import type { RouteListing } from './route-listing.js';
import { answerError } from './to-wire.js';

const PATH = '/rate-limits';

const BY_QUESTION = 'each question is checked by itself';
const BY_HAND = 'what is no count counts as absent';
const BAD_KEY = { 422: 'not the key of an identity' } as const;

const { answer, json } = OpenApi;

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
export function operatorTable(dialect: Dialect, needs: OperatorDeps): RouteTable {
  return {
    dialect,
    api: 'ratelimit',
    answerError: (error, request) =>
      answerError(error, { log: needs.log, documentationUrl: operatorDocs(request) }),
    routes: [...checkRoutes(needs), ...banRoutes(needs), ...viewRoutes(needs)],
  };
}

function checkRoutes(needs: OperatorDeps): readonly Route[] {
  const { config, decisions, clock } = needs;
  const contextOf = ({ base }: HttpRequest): AnswerContext => ({
    config,
    docsBase: docsBaseAt(config, base),
    clock,
  });
  return [
    operatorRoute('POST', `${PATH}/check`, {
      about: { summary: 'may this request pass, and charge it' },
      input: { body: Question },
      output: { 200: answer('whether it may', json(Decision)) },
      errors: { 422: 'the question is wrong' },
      handle: async (request, { body }) =>
        platformAnswer(200, await checkOne(needs, body, contextOf(request))),
    }),
    operatorRoute('POST', `${PATH}/check-batch`, {
      maxBytes: MAX_BATCH_COUNT * 4_096,
      about: { summary: 'as many as 1,000 questions' },
      input: { body: Questions, validation: BY_QUESTION },
      output: { 200: answer('an answer for each, in their order', json(Decisions)) },
      errors: { 422: 'a question is wrong, or there are too many' },
      async handle(request) {
        const body = jsonOf(request.body);
        const isList = Array.isArray(body);
        const checks: unknown = isList ? body : fieldsOf(body)['checks'];
        if (!Array.isArray(checks) || checks.length > MAX_BATCH_COUNT) {
          throw rateLimitError(
            'question_invalid',
            `checks is a list of at most ${MAX_BATCH_COUNT}`,
          );
        }
        const results = await checkAll(needs, checks, contextOf(request));
        return platformAnswer(200, isList ? results : { results });
      },
    }),
    operatorRoute('POST', `${PATH}/finish`, {
      about: { summary: 'the request of a lease has ended' },
      input: { body: Finish },
      output: { 204: answer('its slot is free') },
      errors: { 404: 'there is no such lease', 422: 'a field is wrong' },
      handle(_request, { body: { lease_id, status = 200, cpu_ms = 0 } }) {
        decisions.finish(lease_id, { cpuMs: cpu_ms, status });
        return emptyAnswer(204);
      },
    }),
  ];
}

function banRoutes({ config, limiter, addresses, onUnban }: OperatorDeps): readonly Route[] {
  const { store } = limiter;
  return [
    operatorRoute('GET', `${PATH}/bans`, {
      about: { summary: 'who is shut out' },
      input: { query: Type.Object(Count), validation: BY_HAND },
      output: { 200: answer('bans', json(Type.Object({ bans: Type.Array(BanSchema) }))) },
      async handle(request) {
        const bans = await store.bans(countOf(request));
        return platformAnswer(200, { bans: bans.map(banToWire) });
      },
    }),
    operatorRoute('POST', `${PATH}/bans`, {
      about: { summary: 'shut an identity out' },
      input: { body: NewBan },
      output: { 201: answer('it is shut out', json(BanSchema)) },
      errors: { 422: 'a field is wrong' },
      async handle(_request, { body: { identity, duration_seconds } }) {
        const key = keyOf(addresses, identity);
        await store.ban(key, duration_seconds ?? config.ban_minutes * 60);
        const ban = await store.banOf(key);
        return platformAnswer(201, ban === undefined ? { identity: key } : banToWire(ban));
      },
    }),
    operatorRoute('DELETE', `${PATH}/bans/:identity`, {
      about: { summary: 'let an identity in again' },
      output: { 204: answer('it may ask again') },
      errors: { ...BAD_KEY, 404: 'it is not shut out' },
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        if (!(await store.unban(key))) throw rateLimitError('ban_unknown');
        onUnban(key);
        return emptyAnswer(204);
      },
    }),
  ];
}

function viewRoutes(needs: OperatorDeps): readonly Route[] {
  const { limiter, addresses, profiles, routes } = needs;
  const { store, resources } = limiter;
  const top = Type.Object({ resource: Type.String(), top: Type.Array(Type.Object({})) });
  return [
    operatorRoute('GET', `${PATH}/routes`, {
      about: { summary: 'what the routes of services with limits cost' },
      output: { 200: answer('costs', json(Type.Object({ routes: Type.Array(CostOfRoute) }))) },
      handle: () => platformAnswer(200, { routes: routes.list() }),
    }),
    operatorRoute('GET', `${PATH}/top`, {
      about: { summary: 'who has used most of a resource' },
      input: {
        query: Type.Object({
          resource: Type.Optional(Type.String({ default: 'core' })),
          ...Count,
        }),
        validation: BY_HAND,
      },
      output: { 200: answer('identities, who used most first', json(top)) },
      errors: { 422: 'there is no such resource' },
      async handle(request) {
        const name = queryParameter(request, 'resource') ?? 'core';
        const resource = resources.find(name);
        if (resource === undefined)
          throw rateLimitError('question_invalid', `there is no resource ${name}`);
        const users = await store.top(resource, countOf(request));
        return platformAnswer(200, { resource: name, top: users });
      },
    }),
    operatorRoute('GET', `${PATH}/:identity`, {
      about: { summary: 'everything that is counted for an identity' },
      output: { 200: answer('what it has used and has left', json(Usage)) },
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
        return platformAnswer(200, {
          identity: key,
          buckets,
          secondary,
          ban: ban === undefined ? null : { until: ban.untilSec, level: ban.level },
        });
      },
    }),
    operatorRoute('POST', `${PATH}/:identity/reset`, {
      about: { summary: 'forget what an identity has used' },
      output: { 204: answer('forgotten') },
      errors: BAD_KEY,
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        await store.reset(key, resources.buckets);
        return emptyAnswer(204);
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
