import {
  described,
  type HttpRequest,
  OpenApi,
  pathOf,
  type Route,
  type RouteDocs,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { Operator } from '../../domain/platform/operator.js';
import type { VendorWord } from '../../model/platform/vendor-word.js';
import { bodyRule, MAX_OPERATOR_VALUE_COUNT, readJson } from '../bodies.js';
import { bodyName, bodySchemas, HANDLER_VALIDATION, pageQuery } from '../description.js';
import { PAGE_LIMIT, QueryString } from '../query-string.js';
import { OPERATOR_PATH, type RequestAuthenticator } from '../request-authenticator.js';
import { jsonTextResponse } from '../to-wire.js';

interface OperatorCall {
  readonly request: HttpRequest;
  param(name: string): string;
  body(): Record<string, unknown>;
}

interface Docs extends Pick<RouteDocs, 'summary' | 'query'> {
  /** Name of the body's schema. */
  readonly body?: string;
}

const LIST_QUERY = pageQuery({
  livemode: Type.Optional(Type.Boolean({ default: false })),
  closed: Type.Optional(Type.Boolean({ default: false })),
});

/** Enough for a 10 MiB file in base64 and its name. */
const MAX_FILE_BODY_BYTES = 15 * 1024 * 1024;

/** Returns the operator routes. Source: accounts, section 4. */
export function operatorRoutes(deps: {
  readonly authenticator: RequestAuthenticator;
  readonly operator: Operator;
  readonly maxBodyBytes: number;
  readonly vendorWord: VendorWord;
}): readonly Route[] {
  const { authenticator, operator, maxBodyBytes, vendorWord } = deps;
  const route = (
    method: Route['method'],
    path: string,
    { body, ...docs }: Docs,
    handle: (call: OperatorCall) => Promise<object>,
    maxBytes = maxBodyBytes,
  ): Route => ({
    method,
    path: `${OPERATOR_PATH}${path}`,
    access: 'admin',
    ...described(
      {
        ...docs,
        ...(body && { body: OpenApi.ref(bodyName(body)) }),
        output: { 200: OpenApi.response('done', OpenApi.json(Type.Object({}))) },
      },
      HANDLER_VALIDATION,
    ),
    ...(method === 'GET' ? { hasHead: false } : { body: bodyRule(maxBytes) }),
    check: (request) => authenticator.refuseSize(request, maxBytes),
    handle: async (request) => {
      const call: OperatorCall = {
        request,
        param: (name) => request.parameters[name] ?? '',
        body: () => readJson(request, MAX_OPERATOR_VALUE_COUNT),
      };
      return jsonTextResponse(JSON.stringify(await handle(call)));
    },
  });
  const platform = '/platforms/:platform';
  const account = `${platform}/accounts/:account`;
  const id = ({ param }: OperatorCall): string => param('platform');
  const at = (call: OperatorCall) => ({ platform: id(call), id: call.param('account') });
  return [
    route(
      'GET',
      '/schemas',
      { summary: 'Retrieve the JSON Schemas of request bodies' },
      async () => ({
        schemas: vendorWord.allToWire(bodySchemas()),
      }),
    ),
    route('GET', '/platforms', { summary: 'List platforms' }, async () => operator.listPlatforms()),
    route(
      'POST',
      '/platforms',
      { summary: 'Create a platform', body: 'platform_settings' },
      async ({ body }) => operator.createPlatform(body()),
    ),
    route('GET', platform, { summary: 'Retrieve a platform' }, async (call) =>
      operator.platform(id(call)),
    ),
    route(
      'PATCH',
      platform,
      { summary: 'Change the settings of a platform', body: 'platform_settings' },
      async (call) => operator.patchPlatform(id(call), call.body()),
    ),
    route('DELETE', platform, { summary: 'Delete a platform and its keys' }, async (call) =>
      operator.deletePlatform(id(call)),
    ),
    route('GET', `${platform}/keys`, { summary: 'List the keys of a platform' }, async (call) =>
      operator.listKeys(id(call)),
    ),
    route(
      'POST',
      `${platform}/keys`,
      { summary: 'Create a key, shown only once', body: 'platform_key' },
      async (call) => operator.createKey(id(call), call.body()),
    ),
    route('DELETE', `${platform}/keys/:key`, { summary: 'Revoke a key' }, async (call) =>
      operator.revokeKey(id(call), call.param('key')),
    ),
    route(
      'GET',
      `${platform}/event_destinations/:destination/attempts`,
      { summary: 'List delivery attempts and pending deliveries of an event destination' },
      async (call) => operator.listAttempts(id(call), call.param('destination')),
    ),
    route(
      'POST',
      `${platform}/files`,
      { summary: 'Add a file that requests may refer to', body: 'file_upload' },
      async (call) => operator.addFile(id(call), call.body()),
      MAX_FILE_BODY_BYTES,
    ),
    route(
      'POST',
      `${platform}/payment_methods`,
      { summary: 'Add a payment method that requests may refer to', body: 'payment_method' },
      async (call) => operator.addPaymentMethod(id(call), call.body()),
    ),
    route(
      'POST',
      `${platform}/invoice_templates`,
      { summary: 'Add an invoice template that requests may refer to', body: 'invoice_template' },
      async (call) => operator.addTemplate(id(call), call.body()),
    ),
    route(
      'POST',
      `${platform}/test_clocks`,
      { summary: 'Add a test clock', body: 'test_clock' },
      async (call) => operator.addClock(id(call), call.body()),
    ),
    route(
      'GET',
      `${platform}/test_clocks/:clock/accounts`,
      { summary: 'List the accounts of a test clock' },
      async (call) => operator.listOnClock(id(call), call.param('clock')),
    ),
    route(
      'POST',
      `${platform}/tick`,
      { summary: 'Process everything due by the given time', body: 'tick' },
      async (call) => operator.tick(id(call), call.body()),
    ),
    route(
      'GET',
      `${platform}/accounts`,
      { summary: 'List the accounts of a platform', query: LIST_QUERY },
      async (call) => {
        const { url } = call.request;
        return await operator.listAccounts(id(call), { ...readFilters(url), path: pathOf(url) });
      },
    ),
    route(
      'GET',
      account,
      { summary: 'Retrieve an account with details hidden from its platform' },
      async (call) => operator.account(at(call)),
    ),
    route('POST', `${account}/close`, { summary: 'Close an account' }, async (call) =>
      operator.closeAccount(at(call)),
    ),
    route(
      'PATCH',
      `${account}/state`,
      {
        summary: 'Set facts about an account, or the outcome of a pending verification',
        body: 'account_state',
      },
      async (call) => operator.patchState(at(call), call.body()),
    ),
    route(
      'POST',
      `${account}/requirements`,
      { summary: 'Add a requirement to an account', body: 'requirement_injection' },
      async (call) => operator.addRequirement(at(call), call.body()),
    ),
    route(
      'DELETE',
      `${account}/requirements/:entry`,
      { summary: 'Remove an added requirement' },
      async (call) => operator.removeRequirement(at(call), call.param('entry')),
    ),
    route('POST', '/rotate_key', { summary: 'Encrypt stored data with a new key' }, async () =>
      operator.rotateKey(),
    ),
  ];
}

/** Reads the filters of the account list. Throws `invalid_fields`. */
function readFilters(url: string) {
  const query = new QueryString(url);
  const filters = {
    livemode: query.flag('livemode') === true,
    isClosed: query.flag('closed') === true,
    limit: query.whole('limit', PAGE_LIMIT),
    page: query.text('page'),
  };
  query.refuseUnknown();
  return filters;
}
