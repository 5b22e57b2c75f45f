import { type HttpRequest, pathOf, type Route } from '@plinth/kernel';
import type { Operator } from '../domain/operator.js';
import { type Arrivals, OPERATOR_PATH } from './arrivals.js';
import { bodyRule, MAX_OPERATOR_VALUE_COUNT, readJson } from './bodies.js';
import { Query } from './query.js';
import { jsonTextAnswer } from './to-wire.js';

interface OperatorCall {
  readonly request: HttpRequest;
  param(name: string): string;
  body(): Record<string, unknown>;
}

/** A file of 10 MiB in base64, and its name. */
const MAX_FILE_BODY_BYTES = 15 * 1024 * 1024;

/** Source: accounts, section 4. */
export function operatorRoutes(needs: {
  readonly arrivals: Arrivals;
  readonly operator: Operator;
  readonly maxBodyBytes: number;
}): readonly Route[] {
  const { arrivals, operator, maxBodyBytes } = needs;
  const route = (
    method: Route['method'],
    path: string,
    handle: (call: OperatorCall) => Promise<object>,
    maxBytes = maxBodyBytes,
  ): Route => ({
    method,
    path: `${OPERATOR_PATH}${path}`,
    access: 'admin',
    ...(method === 'GET' ? { hasHead: false } : { body: bodyRule(maxBytes) }),
    check: (request) => arrivals.refuseSize(request, maxBytes),
    handle: async (request) => {
      const call: OperatorCall = {
        request,
        param: (name) => request.parameters[name] ?? '',
        body: () => readJson(request, MAX_OPERATOR_VALUE_COUNT),
      };
      return jsonTextAnswer(JSON.stringify(await handle(call)));
    },
  });
  const platform = '/platforms/:platform';
  const account = `${platform}/accounts/:account`;
  const id = ({ param }: OperatorCall): string => param('platform');
  const at = (call: OperatorCall) => ({ platform: id(call), id: call.param('account') });
  return [
    route('GET', '/platforms', async () => operator.listPlatforms()),
    route('POST', '/platforms', async ({ body }) => operator.createPlatform(body())),
    route('GET', platform, async (call) => operator.platform(id(call))),
    route('PATCH', platform, async (call) => operator.patchPlatform(id(call), call.body())),
    route('DELETE', platform, async (call) => operator.deletePlatform(id(call))),
    route('GET', `${platform}/keys`, async (call) => operator.listKeys(id(call))),
    route('POST', `${platform}/keys`, async (call) => operator.createKey(id(call), call.body())),
    route('DELETE', `${platform}/keys/:key`, async (call) =>
      operator.revokeKey(id(call), call.param('key')),
    ),
    route('GET', `${platform}/event_destinations/:destination/attempts`, async (call) =>
      operator.listAttempts(id(call), call.param('destination')),
    ),
    route(
      'POST',
      `${platform}/files`,
      async (call) => operator.addFile(id(call), call.body()),
      MAX_FILE_BODY_BYTES,
    ),
    route('POST', `${platform}/payment_methods`, async (call) =>
      operator.addPaymentMethod(id(call), call.body()),
    ),
    route('POST', `${platform}/invoice_templates`, async (call) =>
      operator.addTemplate(id(call), call.body()),
    ),
    route('POST', `${platform}/test_clocks`, async (call) =>
      operator.addClock(id(call), call.body()),
    ),
    route('POST', `${platform}/tick`, async (call) => operator.tick(id(call), call.body())),
    route('GET', `${platform}/accounts`, async (call) => {
      const { url } = call.request;
      return await operator.listAccounts(id(call), { ...readFilters(url), path: pathOf(url) });
    }),
    route('GET', account, async (call) => operator.account(at(call))),
    route('POST', `${account}/close`, async (call) => operator.closeAccount(at(call))),
    route('PATCH', `${account}/state`, async (call) => operator.patchState(at(call), call.body())),
    route('POST', `${account}/requirements`, async (call) =>
      operator.inject(at(call), call.body()),
    ),
    route('DELETE', `${account}/requirements/:entry`, async (call) =>
      operator.removeInjected(at(call), call.param('entry')),
    ),
    route('POST', '/rotate_key', async () => operator.rotateKey()),
  ];
}

/** Throws `invalid_fields`. */
function readFilters(url: string) {
  const query = new Query(url);
  const filters = {
    livemode: query.flag('livemode') === true,
    isClosed: query.flag('closed') === true,
    limit: query.whole('limit', { min: 1, max: 100, default: 20 }),
    page: query.text('page'),
  };
  query.end();
  return filters;
}
