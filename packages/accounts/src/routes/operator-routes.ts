import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operator } from '../domain/operator.js';
import { MAX_OPERATOR_VALUE_COUNT, readJson } from './bodies.js';
import { type AccountsFront, OPERATOR_PATH } from './front.js';
import { Query } from './query.js';
import { sendBody } from './to-wire.js';

interface OperatorCall {
  readonly request: FastifyRequest;
  param(name: string): string;
  body(): Record<string, unknown>;
}

/** A file of 10 MiB in base64, and its name. */
const MAX_FILE_BODY_BYTES = 15 * 1024 * 1024;

/** Source: accounts, section 4. */
export function registerOperatorRoutes(
  app: FastifyInstance,
  needs: { readonly front: AccountsFront; readonly operator: Operator },
): void {
  const { front, operator } = needs;
  const route = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    handle: (call: OperatorCall) => Promise<object>,
    bodyLimit?: number,
  ): void => {
    app.route({
      method,
      url: `${OPERATOR_PATH}${path}`,
      exposeHeadRoute: false,
      config: { access: 'admin' },
      ...(bodyLimit !== undefined && { bodyLimit }),
      onRequest: async (request) => {
        front.refuseSize(request, bodyLimit);
        front.checkOperator(request);
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const params = request.params as Record<string, string>; // every parameter of a path is text
        const call: OperatorCall = {
          request,
          param: (name) => params[name] ?? '',
          body: () => readJson(request, MAX_OPERATOR_VALUE_COUNT),
        };
        return sendBody(reply, 200, JSON.stringify(await handle(call)));
      },
    });
  };
  const account = '/platforms/:platform/accounts/:account';
  const at = ({ param }: OperatorCall) => ({ platform: param('platform'), id: param('account') });

  route('GET', '/platforms', async () => operator.listPlatforms());
  route('POST', '/platforms', async ({ body }) => operator.createPlatform(body()));
  route('GET', '/platforms/:platform', async ({ param }) => operator.platform(param('platform')));
  route('PATCH', '/platforms/:platform', async ({ param, body }) =>
    operator.patchPlatform(param('platform'), body()),
  );
  route('DELETE', '/platforms/:platform', async ({ param }) =>
    operator.deletePlatform(param('platform')),
  );
  route('GET', '/platforms/:platform/keys', async ({ param }) =>
    operator.listKeys(param('platform')),
  );
  route('POST', '/platforms/:platform/keys', async ({ param, body }) =>
    operator.createKey(param('platform'), body()),
  );
  route('GET', '/platforms/:platform/event_destinations/:destination/attempts', async ({ param }) =>
    operator.listAttempts(param('platform'), param('destination')),
  );
  route('DELETE', '/platforms/:platform/keys/:key', async ({ param }) =>
    operator.revokeKey(param('platform'), param('key')),
  );
  route(
    'POST',
    '/platforms/:platform/files',
    async ({ param, body }) => operator.addFile(param('platform'), body()),
    MAX_FILE_BODY_BYTES,
  );
  route('POST', '/platforms/:platform/payment_methods', async ({ param, body }) =>
    operator.addPaymentMethod(param('platform'), body()),
  );
  route('POST', '/platforms/:platform/invoice_templates', async ({ param, body }) =>
    operator.addTemplate(param('platform'), body()),
  );
  route('POST', '/platforms/:platform/test_clocks', async ({ param, body }) =>
    operator.addClock(param('platform'), body()),
  );
  route('POST', '/platforms/:platform/tick', async ({ param, body }) =>
    operator.tick(param('platform'), body()),
  );
  route('GET', '/platforms/:platform/accounts', async ({ param, request }) => {
    const query = new Query(request.url);
    const livemode = query.flag('livemode') === true;
    const isClosed = query.flag('closed') === true;
    const limit = query.whole('limit', { min: 1, max: 100, default: 20 });
    const page = query.text('page');
    query.end();
    const path = request.url.split('?', 1)[0] ?? '';
    return await operator.listAccounts(param('platform'), {
      livemode,
      isClosed,
      limit,
      page,
      path,
    });
  });
  route('GET', account, async (call) => operator.account(at(call)));
  route('POST', `${account}/close`, async (call) => operator.closeAccount(at(call)));
  route('PATCH', `${account}/state`, async (call) => operator.patchState(at(call), call.body()));
  route('POST', `${account}/requirements`, async (call) => operator.inject(at(call), call.body()));
  route('DELETE', `${account}/requirements/:entry`, async (call) =>
    operator.removeInjected(at(call), call.param('entry')),
  );
  route('POST', '/rotate_key', async () => operator.rotateKey());
}
