import {
  emptyAnswer,
  type HttpRequest,
  jsonObjectOf,
  OpenApi,
  platformAnswer,
  queryOf,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { Apps, IssuedKey } from '../domain/apps.js';
import type { PrivateKeyFormat } from '../domain/key-maker.js';
import type { App, AppKey, AppSelector } from '../model/app.js';
import { readAppChange, readKeyRequest, readNewApp, readSelector } from './app-requests.js';
import {
  isoSeconds,
  type OperatorWords,
  operatorRoute,
  PAGE,
  pageAnswer,
  pageOf,
} from './operator-route.js';
import {
  AppChange,
  AppRecord,
  AppRequest,
  IssuedKey as IssuedKeySchema,
  KeyFormat,
  KeyRequest,
  NewApp,
} from './schemas.js';

const { answer, json } = OpenApi;
const BY_REGISTRY = 'each field is refused in words of its own, together with those of the webhook';
const REFUSED = { 422: 'a value was refused' } as const;

const LIST: OperatorWords = {
  summary: 'List apps',
  input: PAGE,
  output: { 200: answer('a page of them', json(Type.Array(AppRecord))) },
};
const CREATE: OperatorWords = {
  summary: 'Register an app',
  input: { query: KeyFormat, body: AppRequest, judged: BY_REGISTRY },
  output: { 201: answer('the app', json(NewApp)) },
  errors: REFUSED,
};
const SHOW: OperatorWords = {
  summary: 'Get an app',
  output: { 200: answer('the app', json(AppRecord)) },
};
const CHANGE: OperatorWords = {
  summary: 'Change an app or its webhook',
  input: { body: AppChange, judged: BY_REGISTRY },
  output: { 200: answer('the app', json(AppRecord)) },
  errors: REFUSED,
};
const REMOVE: OperatorWords = {
  summary: 'Remove an app',
  output: { 204: answer('it is gone') },
};
const ADD_KEY: OperatorWords = {
  summary: 'Add a key',
  input: { query: KeyFormat, body: KeyRequest, isBodyOptional: true, judged: BY_REGISTRY },
  output: { 201: answer('the key', json(IssuedKeySchema)) },
  errors: REFUSED,
};
const REMOVE_KEY: OperatorWords = {
  summary: 'Remove a key',
  output: { 204: answer('it is valid no longer') },
  errors: { 422: 'it is the last one' },
};
const suspensionWords = (summary: string): OperatorWords => ({
  summary,
  output: { 202: answer('the app', json(AppRecord)) },
});

/** Apps and their public keys. Source: webhooks, section 10. */
export function appRoutes(apps: Apps): readonly Route[] {
  const show = async (found: App): Promise<object> =>
    toWire(found, await apps.describeHooks([found]));
  const suspension = (verb: string, summary: string, isSuspended: boolean): Route =>
    operatorRoute('POST', `/apps/:app/${verb}`, suspensionWords(summary), async (request) =>
      platformAnswer(202, await show(await apps.setSuspended(selectorOf(request), isSuspended))),
    );
  return [
    operatorRoute('POST', '/apps', CREATE, async (request) => {
      const wanted = readNewApp(jsonObjectOf(request.body), formatOf(request));
      const made = await apps.create(wanted);
      const { pem } = made.issued;
      const shown = { ...(await show(made.app)), ...(pem === undefined ? {} : { pem }) };
      return platformAnswer(201, shown);
    }),
    operatorRoute('GET', '/apps', LIST, async (request) => {
      const { cursor, limit } = pageOf(request);
      const after = Number(cursor);
      const found = await apps.list(Number.isSafeInteger(after) ? after : 0, limit + 1);
      const page = found.slice(0, limit);
      const hooks = await apps.describeHooks(page);
      const shown = page.map((one) => toWire(one, hooks));
      const nextCursor = found.length > limit ? page.at(-1)?.id.toString() : undefined;
      return pageAnswer(request, shown, { limit, nextCursor });
    }),
    operatorRoute('GET', '/apps/:app', SHOW, async (request) =>
      platformAnswer(200, await show(await apps.get(selectorOf(request)))),
    ),
    operatorRoute('PATCH', '/apps/:app', CHANGE, async (request) => {
      const change = readAppChange(jsonObjectOf(request.body));
      return platformAnswer(200, await show(await apps.update(selectorOf(request), change)));
    }),
    operatorRoute('DELETE', '/apps/:app', REMOVE, async (request) => {
      await apps.delete(selectorOf(request));
      return emptyAnswer(204);
    }),
    operatorRoute('POST', '/apps/:app/keys', ADD_KEY, async (request) => {
      const publicKey = readKeyRequest(jsonObjectOf(request.body));
      const issued = await apps.addKey(selectorOf(request), publicKey, formatOf(request));
      return platformAnswer(201, issuedToWire(issued));
    }),
    operatorRoute('DELETE', '/apps/:app/keys/:key', REMOVE_KEY, async (request) => {
      await apps.removeKey(selectorOf(request), Number(request.parameters['key']));
      return emptyAnswer(204);
    }),
    suspension('suspend', 'Refuse the app, hold its deliveries', true),
    suspension('unsuspend', 'Let the app go on', false),
  ];
}

const selectorOf = ({ parameters }: HttpRequest): AppSelector =>
  readSelector(parameters['app'] ?? '');

const formatOf = ({ url }: HttpRequest): PrivateKeyFormat =>
  new URLSearchParams(queryOf(url)).get('format') === 'pkcs1' ? 'pkcs1' : 'pkcs8';

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
