import { maskUrl, routesFor, takeJsonObjects } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebhooksConfig } from '../config.js';
import type { DeliveryLog } from '../domain/delivery-log.js';
import type { HookRegistry } from '../domain/hook-registry.js';
import type { HookRules } from '../domain/hook-rules.js';
import type { PayloadProcessor } from '../domain/payload/payload-processor.js';
import { describeConfig, isoSeconds } from '../domain/ping.js';
import type { Redelivery } from '../domain/redelivery.js';
import { DeliveryIdInvalid, ResourceMissing } from '../errors.js';
import type { Hook } from '../model/hook.js';
import { API_VERSIONS, type Dialect } from './dialect.js';
import { linkHeader } from './link-header.js';
import { readListQuery } from './list-query.js';
import { detailBytes, summaryToWire } from './to-wire.js';

/** What is shown of an app. */
export interface AppInfo {
  readonly id: number;
  readonly client_id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner: object | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export interface AppRouteNeeds {
  readonly config: WebhooksConfig;
  readonly dialect: Dialect;
  readonly hooks: HookRegistry;
  readonly rules: HookRules;
  readonly deliveries: DeliveryLog;
  readonly redelivery: Redelivery;
  readonly payloads: PayloadProcessor;
  readonly findApp: (appId: number) => Promise<AppInfo | undefined>;
  /** For which app the request speaks. Throws when the front let somebody else through. */
  readonly appIdOf: (request: FastifyRequest) => number;
  readonly onUrlChanged: (hook: Hook) => Promise<void>;
}

interface OfDelivery {
  Params: { delivery: string };
}

const MAX_BODY_SIZE_BYTES = 65_536;

const TO_ALL = { config: { access: 'public' } } as const;

/** The operations of an app on its own webhook. Source: webhooks, sections 5 and 10. */
export function registerAppRoutes(app: FastifyInstance, needs: AppRouteNeeds): void {
  const { config, dialect } = needs;
  routesFor(app, 'app');
  takeJsonObjects(app);
  app.addHook('onRequest', async (request) => dialect.check(request));
  app.setErrorHandler((error, request, reply) => dialect.sendError(error, request, reply));
  for (const prefix of config.root_alias ? ['/api/v3', ''] : ['/api/v3']) {
    registerHookRoutes(app, prefix, needs);
    app.get(`${prefix}/meta`, TO_ALL, async (request, reply) =>
      dialect.send(request, reply, 200, {
        verifiable_password_authentication: false,
        hooks: config.egress_cidrs,
      }),
    );
    app.get(`${prefix}/versions`, TO_ALL, async (request, reply) =>
      dialect.send(request, reply, 200, API_VERSIONS),
    );
  }
}

function registerHookRoutes(app: FastifyInstance, prefix: string, needs: AppRouteNeeds): void {
  const { config, dialect, hooks, rules, deliveries, redelivery, payloads, appIdOf } = needs;
  const path = `${prefix}/app/hook`;
  const hookOf = (request: FastifyRequest): Hook => {
    const hook = hooks.get(appIdOf(request));
    if (hook === undefined) throw new ResourceMissing();
    return hook;
  };

  app.get(`${prefix}/app`, async (request, reply) => {
    const found = await needs.findApp(appIdOf(request));
    if (found === undefined) throw new ResourceMissing();
    const hook = hooks.get(found.id);
    return dialect.send(request, reply, 200, appToWire(found, hook, dialect.baseUrl(request)));
  });

  app.get(`${path}/config`, async (request, reply) =>
    dialect.send(request, reply, 200, describeConfig(hookOf(request), maskUrl)),
  );

  app.patch(`${path}/config`, { bodyLimit: MAX_BODY_SIZE_BYTES }, async (request, reply) => {
    const hook = hookOf(request);
    // Without a body the parser is not asked; what it gives is an object.
    const fields = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    const changed = await hooks.change(hook.appId, rules.checkConfig(fields));
    if (changed === undefined) throw new ResourceMissing();
    if (changed.url !== hook.url) await needs.onUrlChanged(changed);
    return dialect.send(request, reply, 200, describeConfig(changed, maskUrl));
  });

  app.get(`${path}/deliveries`, async (request, reply) => {
    const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const { limit, fromId, filter } = readListQuery(query, config.strict_query);
    const page = await deliveries.list(appIdOf(request), filter, fromId, limit);
    const link = linkHeader(`${dialect.baseUrl(request)}${request.url}`, page);
    if (link !== undefined) reply.header('link', link);
    return dialect.send(request, reply, 200, page.items.map(summaryToWire));
  });

  app.get<OfDelivery>(`${path}/deliveries/:delivery`, async (request, reply) => {
    const id = readDeliveryId(request.params.delivery);
    const delivery = await deliveries.get(appIdOf(request), id);
    if (delivery === undefined) throw new ResourceMissing();
    const body = detailBytes(delivery);
    return dialect.sendBytes(request, reply, 200, { body, digest: await payloads.digest(body) });
  });

  app.post<OfDelivery>(`${path}/deliveries/:delivery/attempts`, async (request, reply) => {
    await redelivery.request(appIdOf(request), readDeliveryId(request.params.delivery));
    return config.redeliver_body === 'object'
      ? dialect.send(request, reply, 202, {})
      : sendNothing(reply);
  });
}

const sendNothing = (reply: FastifyReply): FastifyReply =>
  reply.code(202).header('content-length', '0').send();

function readDeliveryId(text: string): number {
  // A slash at the end of the list is part of no path.
  if (text === '') throw new ResourceMissing();
  if (!/^[1-9]\d*$/.test(text)) throw new DeliveryIdInvalid();
  const id = Number(text);
  // Greater than any that was given.
  if (!Number.isSafeInteger(id)) throw new ResourceMissing();
  return id;
}

/** All that clients of the real system expect of an app, though there is no page of it here. */
const appToWire = (app: AppInfo, hook: Hook | undefined, baseUrl: string): object => ({
  id: app.id,
  client_id: app.client_id,
  slug: app.slug,
  name: app.name,
  owner: app.owner ?? null,
  events: hook?.events ?? [],
  permissions: {},
  created_at: isoSeconds(app.createdMs),
  updated_at: isoSeconds(app.updatedMs),
  node_id: Buffer.from(`03:App${app.id}`).toString('base64'),
  description: null,
  external_url: baseUrl,
  html_url: `${baseUrl}/apps/${app.slug}`,
});
