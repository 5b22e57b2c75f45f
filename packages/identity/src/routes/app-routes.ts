import { type Logger, routesFor, takeJsonObjects } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Apps, IssuedKey, PrivateKeyFormat } from '../domain/apps.js';
import type { App, AppKey } from '../model/app.js';
import { readAppChange, readKeyRequest, readNewApp, readSelector } from './app-requests.js';
import { answerOperatorError } from './operator-front.js';

type Fields = Readonly<Record<string, unknown>>;
interface OfApp {
  Params: { app: string };
}
interface WithBody {
  Body: Fields;
  Querystring: { format?: string };
}

const DEFAULT_PAGE = 30;
const MAX_PAGE = 100;

/** Who may come here is decided in front. Source: webhooks, section 10. */
export function registerAppRoutes(
  app: FastifyInstance,
  { apps, log }: { readonly apps: Apps; readonly log: Logger },
): void {
  routesFor(app, 'admin');
  takeJsonObjects(app);
  app.setErrorHandler((error, request, reply) => answerOperatorError(error, log, request, reply));
  const show = async (found: App): Promise<object> =>
    toWire(found, await apps.describeHooks([found]));

  app.post<WithBody>('/ops/v1/apps', async (request, reply) => {
    const made = await apps.create(readNewApp(request.body ?? {}, formatOf(request)));
    const { pem } = made.issued;
    return send(reply, 201, { ...(await show(made.app)), ...(pem === undefined ? {} : { pem }) });
  });

  app.get<{ Querystring: Record<string, string> }>('/ops/v1/apps', async (request, reply) => {
    const { after, limit } = pageOf(request.query);
    const found = await apps.list(after, limit + 1);
    const page = found.slice(0, limit);
    const hooks = await apps.describeHooks(page);
    const last = page.at(-1);
    if (found.length > limit && last !== undefined) {
      const query = new URLSearchParams({ per_page: String(limit), cursor: String(last.id) });
      const base = `${request.protocol}://${request.host}`;
      reply.header('link', `<${base}/ops/v1/apps?${query}>; rel="next"`);
    }
    return send(
      reply,
      200,
      page.map((one) => toWire(one, hooks)),
    );
  });

  app.get<OfApp>('/ops/v1/apps/:app', async (request, reply) =>
    send(reply, 200, await show(await apps.get(readSelector(request.params.app)))),
  );

  app.patch<OfApp & WithBody>('/ops/v1/apps/:app', async (request, reply) => {
    const change = readAppChange(request.body ?? {});
    return send(
      reply,
      200,
      await show(await apps.update(readSelector(request.params.app), change)),
    );
  });

  app.delete<OfApp>('/ops/v1/apps/:app', async (request, reply) => {
    await apps.delete(readSelector(request.params.app));
    return reply.code(204).send();
  });

  app.post<OfApp & WithBody>('/ops/v1/apps/:app/keys', async (request, reply) => {
    const publicKey = readKeyRequest(request.body ?? {});
    const selector = readSelector(request.params.app);
    return send(
      reply,
      201,
      issuedToWire(await apps.addKey(selector, publicKey, formatOf(request))),
    );
  });

  app.delete<{ Params: { app: string; key: string } }>(
    '/ops/v1/apps/:app/keys/:key',
    async (request, reply) => {
      await apps.removeKey(readSelector(request.params.app), Number(request.params.key));
      return reply.code(204).send();
    },
  );

  for (const [verb, isSuspended] of [
    ['suspend', true],
    ['unsuspend', false],
  ] as const) {
    app.post<OfApp>(`/ops/v1/apps/:app/${verb}`, async (request, reply) => {
      const changed = await apps.setSuspended(readSelector(request.params.app), isSuspended);
      return send(reply, 202, await show(changed));
    });
  }
}

/** Bytes, because Fastify would look for a serialiser otherwise. */
function send(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(body)));
}

function formatOf(request: FastifyRequest<WithBody>): PrivateKeyFormat {
  return request.query.format === 'pkcs1' ? 'pkcs1' : 'pkcs8';
}

/** As in the platform's own lists: what is no number counts as absent, what is too much as the most. */
function pageOf(query: Readonly<Record<string, string>>): { after: number; limit: number } {
  const wanted = Number(query['per_page']);
  const limit = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, MAX_PAGE) : DEFAULT_PAGE;
  const after = Number(query['cursor'] ?? 0);
  return { after: Number.isSafeInteger(after) ? after : 0, limit };
}

const isoSeconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

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
