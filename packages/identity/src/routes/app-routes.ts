import {
  emptyResponse,
  githubResponse,
  type HttpRequest,
  isoSeconds,
  OpenApi,
  operatorRoute,
  type Route,
} from '@plinth/kernel';
import { type Static, Type } from 'typebox';
import type { Apps, IssuedKey } from '../domain/apps.js';
import type { PrivateKeyFormat } from '../domain/key-maker.js';
import type { App, AppKey, AppOwner, AppSelector } from '../model/app.js';
import { PAGE, pageResponse } from './pages.js';
import {
  AppChange,
  AppRecord,
  AppRequest,
  IssuedKey as IssuedKeySchema,
  KeyFormat,
  KeyRequest,
  NewApp,
} from './schemas.js';

const { response, json } = OpenApi;
const REFUSED = { 422: 'a value is not valid' } as const;
const SHOWN = { 200: response('the app', json(AppRecord)) } as const;

/** Apps and their public keys. Source: webhooks, section 10. */
export function appRoutes(apps: Apps): readonly Route[] {
  const show = async (found: App): Promise<object> =>
    toWire(found, await apps.describeHooks([found]));
  const suspension = (verb: string, summary: string, isSuspended: boolean): Route =>
    operatorRoute('POST', `/apps/:app/${verb}`, {
      about: { summary },
      output: { 202: response('the app', json(AppRecord)) },
      handle: async (request) =>
        githubResponse(202, await show(await apps.setSuspended(selectorOf(request), isSuspended))),
    });
  return [
    operatorRoute('POST', '/apps', {
      about: { summary: 'Register an app' },
      input: { query: KeyFormat, body: AppRequest },
      output: { 201: response('the app', json(NewApp)) },
      errors: REFUSED,
      async handle(_request, { query, body }) {
        const { name, slug, owner, webhook, public_key: publicKey } = body;
        const made = await apps.create({
          name,
          slug,
          owner: ownerOf(owner) ?? undefined,
          webhook,
          publicKey: publicKey ?? undefined,
          privateFormat: formatOf(query),
        });
        const { pem } = made.issued;
        return githubResponse(201, {
          ...(await show(made.app)),
          ...(pem !== undefined && { pem }),
        });
      },
    }),
    operatorRoute('GET', '/apps', {
      about: { summary: 'List apps' },
      input: PAGE,
      output: { 200: response('a page of apps', json(Type.Array(AppRecord))) },
      handle: (request) =>
        pageResponse(request, {
          read: (cursor, limit) => {
            const after = Number(cursor);
            return apps.list(Number.isSafeInteger(after) ? after : 0, limit);
          },
          async show(page) {
            const hooks = await apps.describeHooks(page);
            return page.map((one) => toWire(one, hooks));
          },
          cursorOf: ({ id }) => String(id),
        }),
    }),
    operatorRoute('GET', '/apps/:app', {
      about: { summary: 'Get an app' },
      output: SHOWN,
      handle: async (request) =>
        githubResponse(200, await show(await apps.get(selectorOf(request)))),
    }),
    operatorRoute('PATCH', '/apps/:app', {
      about: { summary: 'Change an app or its webhook' },
      input: { body: AppChange },
      output: SHOWN,
      errors: REFUSED,
      async handle(request, { body: { name, slug, owner, webhook } }) {
        const change = { name, slug, owner: ownerOf(owner), webhook };
        return githubResponse(200, await show(await apps.update(selectorOf(request), change)));
      },
    }),
    operatorRoute('DELETE', '/apps/:app', {
      about: { summary: 'Remove an app' },
      output: { 204: response('the app was removed') },
      async handle(request) {
        await apps.delete(selectorOf(request));
        return emptyResponse(204);
      },
    }),
    operatorRoute('POST', '/apps/:app/keys', {
      about: { summary: 'Add a key' },
      input: { query: KeyFormat, body: KeyRequest, isBodyOptional: true },
      output: { 201: response('the key', json(IssuedKeySchema)) },
      errors: REFUSED,
      async handle(request, { query, body: { public_key: publicKey } }) {
        const issued = await apps.addKey(
          selectorOf(request),
          publicKey ?? undefined,
          formatOf(query),
        );
        return githubResponse(201, issuedToWire(issued));
      },
    }),
    operatorRoute('DELETE', '/apps/:app/keys/:key', {
      about: { summary: 'Remove a key' },
      output: { 204: response('the key has been removed') },
      errors: { 422: 'the key is the last one of the app' },
      async handle(request) {
        await apps.removeKey(selectorOf(request), Number(request.parameters['key']));
        return emptyResponse(204);
      },
    }),
    suspension('suspend', 'Suspend an app and hold its deliveries', true),
    suspension('unsuspend', 'Unsuspend an app', false),
  ];
}

/** A number is an app id; anything else is a client id. */
function selectorOf({ parameters }: HttpRequest): AppSelector {
  const { app = '' } = parameters;
  return /^[1-9]\d{0,14}$/.test(app) ? { id: Number(app) } : { client_id: app };
}

const formatOf = ({ format }: Static<typeof KeyFormat>): PrivateKeyFormat =>
  format === 'pkcs1' ? 'pkcs1' : 'pkcs8';

const ownerOf = (owner: Static<typeof AppChange>['owner']): AppOwner | null | undefined =>
  owner && { type: 'Organization', plan: 'free', ...owner };

function toWire(app: App, hooks: ReadonlyMap<number, object>): object {
  return {
    id: app.id,
    client_id: app.client_id,
    slug: app.slug,
    name: app.name,
    owner: app.owner ?? null,
    public_keys: app.keys.map(keyToWire),
    hook: hooks.get(app.id) ?? null,
    created_at: isoSeconds(app.createdMs),
    updated_at: isoSeconds(app.updatedMs),
    suspended_at: app.suspendedMs === undefined ? null : isoSeconds(app.suspendedMs),
  };
}

const keyToWire = (key: AppKey): object => ({
  id: key.id,
  fingerprint: key.fingerprint,
  created_at: isoSeconds(key.createdMs),
});

const issuedToWire = ({ key, pem }: IssuedKey): object => ({
  ...keyToWire(key),
  ...(pem === undefined ? {} : { pem }),
});
