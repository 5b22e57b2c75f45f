import {
  emptyResponse,
  githubResponse,
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  isoSeconds,
  jsonObjectOf,
  maskUrl,
  OpenApi,
  type PrincipalOf,
  queryOf,
  type Route,
  type RouteInput,
} from '@plinth/kernel';
import { type TSchema, Type } from 'typebox';
import type { WebhooksConfig } from '../config.js';
import type { DeliveryLog } from '../domain/delivery-log.js';
import type { HookRegistry } from '../domain/hook-registry.js';
import type { HookRules } from '../domain/hook-rules.js';
import type { PayloadProcessor } from '../domain/payload/payload-processor.js';
import { describeConfig, describeDisabled } from '../domain/ping.js';
import type { Redelivery } from '../domain/redelivery.js';
import { webhookError } from '../errors.js';
import type { Hook } from '../model/hook.js';
import { cachedResponse } from './cached-response.js';
import { API_VERSIONS, prefixesOf, type WebhookConventions } from './conventions.js';
import { ListQuery } from './description.js';
import { linkHeaders } from './link-header.js';
import { readListQuery } from './list-query.js';
import { detailBytes, summaryToWire } from './to-wire.js';

/** The members of an app that responses contain. */
export interface AppInfo {
  readonly id: number;
  readonly client_id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner: object | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export interface AppRouteDeps {
  readonly config: WebhooksConfig;
  readonly conventions: WebhookConventions;
  readonly hooks: HookRegistry;
  readonly rules: HookRules;
  readonly deliveries: DeliveryLog;
  readonly redelivery: Redelivery;
  readonly payloads: PayloadProcessor;
  readonly findApp: (appId: number) => Promise<AppInfo | undefined>;
  readonly onUrlChanged: (hook: Hook) => Promise<void>;
}

const MAX_BODY_BYTES = 65_536;

const { response, json, ref } = OpenApi;
const KNOWN = response('not modified since the given ETag');
const BAD_ID = { 400: 'the id is not a delivery id' } as const;

/** Operations of an app on its own webhook. Source: webhooks, sections 5 and 10. */
export function appRoutes(deps: AppRouteDeps): readonly Route[] {
  const { config, conventions } = deps;
  const routes = [...ownRoutes(deps), ...deliveryRoutes(deps), ...publicRoutes(config)];
  conventions.nameOperations(routes);
  return prefixesOf(config).flatMap((prefix, index) =>
    routes.map(
      (route): Route => ({
        ...route,
        path: prefix + route.path,
        isAlias: index > 0,
        check: (request) => conventions.check(request),
      }),
    ),
  );
}

function publicRoutes(config: WebhooksConfig): readonly Route[] {
  const shown = (path: string, summary: string, schema: TSchema, body: unknown): Route => ({
    method: 'GET',
    path,
    access: 'public',
    about: { summary },
    output: { 200: response('known', json(schema)), 304: KNOWN },
    errors: { 401: 'bad credentials' },
    handle: (request) => shownResponse(config, request, body),
  });
  return [
    shown('/meta', 'Get server capabilities and source addresses of deliveries', Type.Object({}), {
      verifiable_password_authentication: false,
      hooks: config.egress_cidrs,
    }),
    shown('/versions', 'List API versions', Type.Array(OpenApi.oneOf(API_VERSIONS)), API_VERSIONS),
  ];
}

type AppRequest = HttpRequest<PrincipalOf<'app'>>;

const forApps = (route: Omit<Route<RouteInput, 'app'>, 'access'>): Route => ({
  ...route,
  access: 'app',
});

function ownRoutes(deps: AppRouteDeps): readonly Route[] {
  const { config, conventions, hooks, rules } = deps;
  const hookOf = ({ principal }: AppRequest): Hook => {
    const hook = hooks.get(principal.appId);
    if (hook === undefined) throw webhookError('resource_missing');
    return hook;
  };
  return [
    forApps({
      method: 'GET',
      path: '/app',
      about: { summary: 'Get the authenticated app' },
      output: { 200: response('the app', json(ref('App'))), 304: KNOWN },
      async handle(request) {
        const found = await deps.findApp(request.principal.appId);
        if (found === undefined) throw webhookError('resource_missing');
        const hook = hooks.get(found.id);
        return shownResponse(config, request, appToWire(found, hook, conventions.baseUrl(request)));
      },
    }),
    forApps({
      method: 'GET',
      path: '/app/hook/config',
      about: {
        summary: 'Get the webhook configuration',
        operationId: 'get-a-webhook-configuration-for-an-app',
      },
      output: { 200: response('the configuration', json(ref('Config'))), 304: KNOWN },
      errors: { 404: 'the app has no webhook' },
      handle: (request) => shownResponse(config, request, describeForApp(hookOf(request))),
    }),
    forApps({
      method: 'PATCH',
      path: '/app/hook/config',
      body: { maxBytes: MAX_BODY_BYTES },
      about: {
        summary: 'Change the webhook configuration',
        operationId: 'update-a-webhook-configuration-for-an-app',
      },
      input: {
        body: ref('Config'),
        validation: 'webhook rules depend on the allowed targets',
      },
      output: { 200: response('the configuration', json(ref('Config'))) },
      errors: { 404: 'the app has no webhook', 422: 'a value was rejected' },
      async handle(request) {
        const hook = hookOf(request);
        const change = rules.checkConfig(jsonObjectOf(request.body), hook);
        const changed = await hooks.change(hook.appId, change);
        if (changed === undefined) throw webhookError('resource_missing');
        if (changed.url !== hook.url) await deps.onUrlChanged(changed);
        return githubResponse(200, describeForApp(changed));
      },
    }),
  ];
}

function deliveryRoutes(deps: AppRouteDeps): readonly Route[] {
  const { config, conventions, deliveries, redelivery, payloads } = deps;
  const path = '/app/hook/deliveries';
  return [
    forApps({
      method: 'GET',
      path,
      about: {
        summary: 'List deliveries, newest first',
        operationId: 'list-deliveries-for-an-app-webhook',
      },
      input: { query: ListQuery, validation: 'clients write values in different forms' },
      output: {
        200: response('a page of deliveries', json(Type.Array(ref('Delivery')))),
        304: KNOWN,
      },
      errors: { 400: 'the cursor does not belong to this list', 422: 'a value was rejected' },
      async handle(request) {
        const query = new URLSearchParams(queryOf(request.url));
        const { limit, fromId, filter } = readListQuery(query, config.strict_query);
        const page = await deliveries.list(request.principal.appId, filter, fromId, limit);
        const links = linkHeaders(`${conventions.baseUrl(request)}${request.url}`, page);
        return shownResponse(config, request, page.items.map(summaryToWire), links);
      },
    }),
    forApps({
      method: 'GET',
      path: `${path}/:delivery`,
      about: { summary: 'Get a delivery', operationId: 'get-a-delivery-for-an-app-webhook' },
      output: { 200: response('the delivery', json(ref('DeliveryDetail'))), 304: KNOWN },
      errors: BAD_ID,
      async handle(request) {
        const delivery = await deliveries.get(request.principal.appId, deliveryIdOf(request));
        if (delivery === undefined) throw webhookError('resource_missing');
        const body = detailBytes(delivery);
        const digest = await payloads.digest(body);
        return cachedResponse(request, body, { isPrivate: config.private_cache, digest });
      },
    }),
    forApps({
      method: 'POST',
      path: `${path}/:delivery/attempts`,
      about: {
        summary: 'Redeliver a delivery',
        operationId: 'redeliver-a-delivery-for-an-app-webhook',
      },
      output: { 202: response('redelivery queued') },
      errors: { ...BAD_ID, 422: 'it cannot be redelivered' },
      async handle(request) {
        await redelivery.request(request.principal.appId, deliveryIdOf(request));
        return config.redeliver_body === 'object' ? githubResponse(202, {}) : emptyResponse(202);
      },
    }),
  ];
}

/**
 * Returns the webhook as its app sees it: the four members that clients know, and `active` only if
 * the server disabled it.
 */
const describeForApp = (hook: Hook): object => ({
  ...describeConfig(hook, maskUrl),
  ...(hook.disabled !== undefined && { active: false, ...describeDisabled(hook) }),
});

const shownResponse = (
  config: WebhooksConfig,
  request: HttpRequest,
  body: unknown,
  headers?: HeaderList,
): HttpResponse =>
  cachedResponse(request, Buffer.from(JSON.stringify(body)), {
    isPrivate: config.private_cache,
    ...(headers !== undefined && { headers }),
  });

function deliveryIdOf({ parameters }: HttpRequest): number {
  const { delivery: text = '' } = parameters;
  // A trailing slash after the list does not match any route.
  if (text === '') throw webhookError('resource_missing');
  if (!/^[1-9]\d*$/.test(text)) throw webhookError('delivery_id_invalid');
  const id = Number(text);
  // Such an id is greater than any assigned id.
  if (!Number.isSafeInteger(id)) throw webhookError('resource_missing');
  return id;
}

/**
 * Returns all app members that GitHub clients expect, even those that refer to pages this server
 * does not have.
 */
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
