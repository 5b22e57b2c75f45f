import {
  type Clock,
  type Dialect,
  emptyAnswer,
  type HttpRequest,
  jsonOf,
  type Logger,
  platformAnswer,
  queryOf,
  type Random,
  type Route,
  type RouteTable,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { ClientAddresses } from '../domain/client-address.js';
import type { DecisionDesk } from '../domain/decision-desk.js';
import type { Limiter } from '../domain/limiter.js';
import type { Profiles } from '../domain/profiles.js';
import { rateLimitError } from '../errors.js';
import { type Caller, parseKey } from '../model/caller.js';
import type { Ban } from '../model/decision.js';
import { UNLIMITED } from '../model/resource.js';
import type { AnswerContext } from './answer.js';
import { checkAll, checkOne, fieldsOf, MAX_BODY_BYTES } from './check-route.js';
import { docsBaseAt } from './docs-base.js';
import type { RouteListing } from './route-listing.js';
import { answerError } from './to-wire.js';

export const OPERATOR_PATH = '/ops/v1/rate-limits';

const MAX_BATCH_COUNT = 1_000;
const MAX_LIST_COUNT = 1_000;
const DEFAULT_LIST_COUNT = 100;
const MAX_BAN_SEC = 31_536_000;
/** A day: no request ran longer, and sums of it stay exact. */
const MAX_CPU_MS = 86_400_000;

export interface OperatorNeeds {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
  readonly desk: DecisionDesk;
  readonly profiles: Profiles;
  readonly routes: RouteListing;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onUnban: (identity: string) => void;
}

/** Source: rate-limits, sections 3.2, 9, 12.1 and 17. */
export function operatorTable(dialect: Dialect, needs: OperatorNeeds): RouteTable {
  return {
    dialect,
    answerError: (error, { base }) =>
      answerError(error, { log: needs.log, documentationUrl: `${base}/docs/operator` }),
    routes: [...checkRoutes(needs), ...banRoutes(needs), ...viewRoutes(needs)],
  };
}

type Handle = Route['handle'];

const get = (path: string, handle: Handle): Route => ({
  method: 'GET',
  path: OPERATOR_PATH + path,
  access: 'admin',
  handle,
});
const post = (path: string, handle: Handle, maxBytes = MAX_BODY_BYTES): Route => ({
  method: 'POST',
  path: OPERATOR_PATH + path,
  access: 'admin',
  body: { maxBytes },
  handle,
});

function checkRoutes(needs: OperatorNeeds): readonly Route[] {
  const { config, desk, clock } = needs;
  const contextOf = ({ base }: HttpRequest): AnswerContext => ({
    config,
    docsBase: docsBaseAt(config, base),
    clock,
  });
  return [
    post('/check', async (request) =>
      platformAnswer(200, await checkOne(needs, jsonOf(request.body), contextOf(request))),
    ),
    post(
      '/check-batch',
      async (request) => {
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
      MAX_BATCH_COUNT * 4_096,
    ),
    post('/finish', (request) => {
      const { lease_id, status = 200, cpu_ms = 0 } = fieldsOf(jsonOf(request.body));
      const isTime = typeof cpu_ms === 'number' && cpu_ms >= 0 && cpu_ms <= MAX_CPU_MS;
      if (typeof lease_id !== 'string' || !isTime || !Number.isInteger(status)) {
        throw rateLimitError(
          'question_invalid',
          `lease_id is a text, status a whole number, cpu_ms a number from 0 to ${MAX_CPU_MS}`,
        );
      }
      desk.finish(lease_id, { cpuMs: cpu_ms, notModified: status === 304 });
      return emptyAnswer(204);
    }),
  ];
}

function banRoutes({ limiter, addresses, onUnban }: OperatorNeeds): readonly Route[] {
  const { store } = limiter;
  return [
    get('/bans', async (request) => {
      const bans = await store.bans(countOf(request));
      return platformAnswer(200, { bans: bans.map(banToWire) });
    }),
    post('/bans', async (request) => {
      const { identity, duration_seconds = 600 } = fieldsOf(jsonOf(request.body));
      const isDuration =
        typeof duration_seconds === 'number' &&
        Number.isInteger(duration_seconds) &&
        duration_seconds >= 1 &&
        duration_seconds <= MAX_BAN_SEC;
      if (!isDuration) {
        throw rateLimitError(
          'question_invalid',
          `duration_seconds is a whole number from 1 to ${MAX_BAN_SEC}`,
        );
      }
      const key = keyOf(addresses, identity);
      await store.ban(key, duration_seconds);
      const ban = await store.banOf(key);
      return platformAnswer(201, ban === undefined ? { identity: key } : banToWire(ban));
    }),
    {
      method: 'DELETE',
      path: `${OPERATOR_PATH}/bans/:identity`,
      access: 'admin',
      async handle(request) {
        const key = keyOf(addresses, request.parameters['identity']);
        if (!(await store.unban(key))) throw rateLimitError('ban_unknown');
        onUnban(key);
        return emptyAnswer(204);
      },
    },
  ];
}

function viewRoutes(needs: OperatorNeeds): readonly Route[] {
  const { limiter, addresses, profiles, routes } = needs;
  const { store, resources } = limiter;
  return [
    get('/routes', () => platformAnswer(200, { routes: routes.list() })),
    get('/top', async (request) => {
      const name = queryParameter(request, 'resource') ?? 'core';
      const resource = resources.find(name);
      if (resource === undefined)
        throw rateLimitError('question_invalid', `there is no resource ${name}`);
      const top = await store.top(resource, countOf(request));
      return platformAnswer(200, { resource: name, top });
    }),
    get('/:identity', async (request) => {
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
    }),
    post('/:identity/reset', async (request) => {
      const key = keyOf(addresses, request.parameters['identity']);
      await store.reset(key, resources.buckets);
      return emptyAnswer(204);
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

const queryParameter = ({ url }: HttpRequest, name: string): string | undefined =>
  new URLSearchParams(queryOf(url)).get(name) ?? undefined;

function countOf(request: HttpRequest): number {
  const wanted = Number(queryParameter(request, 'limit') ?? DEFAULT_LIST_COUNT);
  const isCount = Number.isInteger(wanted) && wanted >= 1;
  return isCount ? Math.min(wanted, MAX_LIST_COUNT) : DEFAULT_LIST_COUNT;
}

const banToWire = ({ identity, untilSec, level }: Ban): object => ({
  identity,
  until: untilSec,
  level,
});
