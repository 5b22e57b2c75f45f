import {
  asOutage,
  type Clock,
  type Logger,
  type Random,
  routesFor,
  sendPlatformFailure,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimitConfig } from '../config.js';
import type { ClientAddresses } from '../domain/client-address.js';
import type { DecisionDesk } from '../domain/decision-desk.js';
import type { Limiter } from '../domain/limiter.js';
import type { Profiles } from '../domain/profiles.js';
import { BanUnknown, IdentityKeyInvalid, QuestionInvalid } from '../errors.js';
import { type Caller, parseKey } from '../model/caller.js';
import type { Ban } from '../model/decision.js';
import { UNLIMITED } from '../model/resource.js';
import type { AnswerContext } from './answer.js';
import { CHECK_PATH, checkAll, checkOne, failureOf, fieldsOf, parseBody } from './check-route.js';
import { docsBaseOf } from './docs-base.js';
import type { RouteListing } from './route-listing.js';

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

interface OfIdentity {
  Params: { identity: string };
}
interface WithBody {
  Body: unknown;
}

/** Who may come here is decided in front. Source: rate-limits, sections 3.2, 9, 12.1 and 17. */
export function registerOperatorRoutes(app: FastifyInstance, needs: OperatorNeeds): void {
  routesFor(app, 'admin');
  takeJson(app);
  app.setErrorHandler((error, request, reply) => answerFailure(error, needs.log, request, reply));
  registerChecks(app, needs);
  registerBans(app, needs);
  registerViews(app, needs);
}

function registerChecks(app: FastifyInstance, needs: OperatorNeeds): void {
  const { config, desk, clock } = needs;
  const contextOf = (request: FastifyRequest): AnswerContext => ({
    config,
    docsBase: docsBaseOf(config, request),
    clock,
  });

  app.post<WithBody>(CHECK_PATH, async (request, reply) => {
    const answer = await checkOne(needs, request.body, contextOf(request));
    return send(reply, 200, answer);
  });

  app.post<WithBody>(
    `${OPERATOR_PATH}/check-batch`,
    { bodyLimit: MAX_BATCH_COUNT * 4_096 },
    async (request, reply) => {
      const isList = Array.isArray(request.body);
      const checks: unknown = isList ? request.body : fieldsOf(request.body)['checks'];
      if (!Array.isArray(checks) || checks.length > MAX_BATCH_COUNT) {
        throw new QuestionInvalid(`checks is a list of at most ${MAX_BATCH_COUNT}`);
      }
      const results = await checkAll(needs, checks, contextOf(request));
      return send(reply, 200, isList ? results : { results });
    },
  );

  app.post<WithBody>(`${OPERATOR_PATH}/finish`, async (request, reply) => {
    const { lease_id, status = 200, cpu_ms = 0 } = fieldsOf(request.body);
    const isTime = typeof cpu_ms === 'number' && cpu_ms >= 0 && cpu_ms <= MAX_CPU_MS;
    if (typeof lease_id !== 'string' || !isTime || !Number.isInteger(status)) {
      throw new QuestionInvalid(
        `lease_id is a text, status a whole number, cpu_ms a number from 0 to ${MAX_CPU_MS}`,
      );
    }
    desk.finish(lease_id, { cpuMs: cpu_ms, notModified: status === 304 });
    return reply.code(204).send();
  });
}

function registerBans(app: FastifyInstance, { limiter, addresses, onUnban }: OperatorNeeds): void {
  const { store } = limiter;
  app.get(`${OPERATOR_PATH}/bans`, async (request, reply) => {
    const bans = await store.bans(countOf(request));
    return send(reply, 200, { bans: bans.map(banToWire) });
  });

  app.post<WithBody>(`${OPERATOR_PATH}/bans`, async (request, reply) => {
    const { identity, duration_seconds = 600 } = fieldsOf(request.body);
    const isDuration =
      typeof duration_seconds === 'number' &&
      Number.isInteger(duration_seconds) &&
      duration_seconds >= 1 &&
      duration_seconds <= MAX_BAN_SEC;
    if (!isDuration) {
      throw new QuestionInvalid(`duration_seconds is a whole number from 1 to ${MAX_BAN_SEC}`);
    }
    const key = keyOf(addresses, identity);
    await store.ban(key, duration_seconds);
    const ban = await store.banOf(key);
    return send(reply, 201, ban === undefined ? { identity: key } : banToWire(ban));
  });

  app.delete<OfIdentity>(`${OPERATOR_PATH}/bans/:identity`, async (request, reply) => {
    const key = keyOf(addresses, request.params.identity);
    if (!(await store.unban(key))) throw new BanUnknown();
    onUnban(key);
    return reply.code(204).send();
  });
}

function registerViews(app: FastifyInstance, needs: OperatorNeeds): void {
  const { limiter, addresses, profiles, routes } = needs;
  const { store, resources } = limiter;
  app.get(`${OPERATOR_PATH}/routes`, async (_request, reply) =>
    send(reply, 200, { routes: routes.list() }),
  );

  app.get<{ Querystring: { resource?: string } }>(
    `${OPERATOR_PATH}/top`,
    async (request, reply) => {
      const name = request.query.resource ?? 'core';
      const resource = resources.find(name);
      if (resource === undefined) throw new QuestionInvalid(`there is no resource ${name}`);
      return send(reply, 200, { resource: name, top: await store.top(resource, countOf(request)) });
    },
  );

  app.get<OfIdentity>(`${OPERATOR_PATH}/:identity`, async (request, reply) => {
    const key = keyOf(addresses, request.params.identity);
    const caller = limiter.callers.ofKey(key, await profiles.of(key));
    if (caller === undefined) throw new IdentityKeyInvalid();
    const [buckets, secondary, ban] = await Promise.all([
      bucketsOf(limiter, caller),
      store.secondaryUsage(key),
      store.banOf(key),
    ]);
    return send(reply, 200, {
      identity: key,
      buckets,
      secondary,
      ban: ban === undefined ? null : { until: ban.untilSec, level: ban.level },
    });
  });

  app.post<OfIdentity>(`${OPERATOR_PATH}/:identity/reset`, async (request, reply) => {
    const key = keyOf(addresses, request.params.identity);
    await store.reset(key, resources.buckets);
    return reply.code(204).send();
  });
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
  if (key === undefined || parseKey(key) === undefined) throw new IdentityKeyInvalid();
  return key;
}

function countOf(request: FastifyRequest): number {
  const wanted = Number(Reflect.get(Object(request.query), 'limit') ?? DEFAULT_LIST_COUNT);
  const isCount = Number.isInteger(wanted) && wanted >= 1;
  return isCount ? Math.min(wanted, MAX_LIST_COUNT) : DEFAULT_LIST_COUNT;
}

const banToWire = ({ identity, untilSec, level }: Ban): object => ({
  identity,
  until: untilSec,
  level,
});

/** Bodies are JSON whatever their content type says; an empty one is `{}`. */
function takeJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    return parseBody(body);
  });
}

/** Bytes, because Fastify would look for a serialiser otherwise. */
function send(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(body)));
}

/** In the dialect of everything below `/ops/v1`. */
function answerFailure(
  error: unknown,
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const outage = asOutage(error);
  if (outage !== undefined) reply.header('retry-after', String(outage.retryAfterSec));
  return sendPlatformFailure(reply, failureOf(error, `${request.protocol}://${request.host}`, log));
}
