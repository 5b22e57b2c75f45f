import {
  emptyAnswer,
  type HttpRequest,
  jsonObjectOf,
  platformAnswer,
  queryOf,
  type Route,
} from '@plinth/kernel';
import type { Apps, IssuedKey } from '../domain/apps.js';
import type { PrivateKeyFormat } from '../domain/key-maker.js';
import type { App, AppKey, AppSelector } from '../model/app.js';
import { readAppChange, readKeyRequest, readNewApp, readSelector } from './app-requests.js';
import { isoSeconds, operatorRoute, pageAnswer, pageOf } from './operator-route.js';

/** Apps and their public keys. Source: webhooks, section 10. */
export function appRoutes(apps: Apps): readonly Route[] {
  const show = async (found: App): Promise<object> =>
    toWire(found, await apps.describeHooks([found]));
  const suspension = (verb: string, isSuspended: boolean): Route =>
    operatorRoute('POST', `/apps/:app/${verb}`, async (request) =>
      platformAnswer(202, await show(await apps.setSuspended(selectorOf(request), isSuspended))),
    );
  return [
    operatorRoute('POST', '/apps', async (request) => {
      const wanted = readNewApp(jsonObjectOf(request.body), formatOf(request));
      const made = await apps.create(wanted);
      const { pem } = made.issued;
      const shown = { ...(await show(made.app)), ...(pem === undefined ? {} : { pem }) };
      return platformAnswer(201, shown);
    }),
    operatorRoute('GET', '/apps', async (request) => {
      const { cursor, limit } = pageOf(request);
      const after = Number(cursor);
      const found = await apps.list(Number.isSafeInteger(after) ? after : 0, limit + 1);
      const page = found.slice(0, limit);
      const hooks = await apps.describeHooks(page);
      const shown = page.map((one) => toWire(one, hooks));
      const nextCursor = found.length > limit ? page.at(-1)?.id.toString() : undefined;
      return pageAnswer(request, shown, { limit, nextCursor });
    }),
    operatorRoute('GET', '/apps/:app', async (request) =>
      platformAnswer(200, await show(await apps.get(selectorOf(request)))),
    ),
    operatorRoute('PATCH', '/apps/:app', async (request) => {
      const change = readAppChange(jsonObjectOf(request.body));
      return platformAnswer(200, await show(await apps.update(selectorOf(request), change)));
    }),
    operatorRoute('DELETE', '/apps/:app', async (request) => {
      await apps.delete(selectorOf(request));
      return emptyAnswer(204);
    }),
    operatorRoute('POST', '/apps/:app/keys', async (request) => {
      const publicKey = readKeyRequest(jsonObjectOf(request.body));
      const issued = await apps.addKey(selectorOf(request), publicKey, formatOf(request));
      return platformAnswer(201, issuedToWire(issued));
    }),
    operatorRoute('DELETE', '/apps/:app/keys/:key', async (request) => {
      await apps.removeKey(selectorOf(request), Number(request.parameters['key']));
      return emptyAnswer(204);
    }),
    suspension('suspend', true),
    suspension('unsuspend', false),
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
