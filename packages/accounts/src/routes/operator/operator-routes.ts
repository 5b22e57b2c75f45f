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
import { bodyRule, MAX_OPERATOR_VALUE_COUNT, readJson } from '../bodies.js';
import { bodyName, JUDGED, pageQuery } from '../description.js';
import { PAGE_LIMIT, Query } from '../query.js';
import { OPERATOR_PATH, type RequestAuthenticator } from '../request-authenticator.js';
import { jsonTextAnswer } from '../to-wire.js';

interface OperatorCall {
  readonly request: HttpRequest;
  param(name: string): string;
  body(): Record<string, unknown>;
}

interface Docs extends Pick<RouteDocs, 'summary' | 'query'> {
  /** Name of the schema of its body. */
  readonly body?: string;
}

const LIST_QUERY = pageQuery({
  livemode: Type.Optional(Type.Boolean({ default: false })),
  closed: Type.Optional(Type.Boolean({ default: false })),
});

/** A file of 10 MiB in base64, and its name. */
const MAX_FILE_BODY_BYTES = 15 * 1024 * 1024;

/** Source: accounts, section 4. */
export function operatorRoutes(needs: {
  readonly authenticator: RequestAuthenticator;
  readonly operator: Operator;
  readonly maxBodyBytes: number;
}): readonly Route[] {
  const { authenticator, operator, maxBodyBytes } = needs;
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
        output: { 200: OpenApi.answer('done', OpenApi.json(Type.Object({}))) },
      },
      JUDGED,
    ),
    ...(method === 'GET' ? { hasHead: false } : { body: bodyRule(maxBytes) }),
    check: (request) => authenticator.refuseSize(request, maxBytes),
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
      { summary: 'Make a key, which is shown this once', body: 'platform_key' },
      async (call) => operator.createKey(id(call), call.body()),
    ),
    route('DELETE', `${platform}/keys/:key`, { summary: 'End a key' }, async (call) =>
      operator.revokeKey(id(call), call.param('key')),
    ),
    route(
      'GET',
      `${platform}/event_destinations/:destination/attempts`,
      { summary: 'What was sent to an event destination, and what waits' },
      async (call) => operator.listAttempts(id(call), call.param('destination')),
    ),
    route(
      'POST',
      `${platform}/files`,
      { summary: 'Add a file that requests may name', body: 'file_upload' },
      async (call) => operator.addFile(id(call), call.body()),
      MAX_FILE_BODY_BYTES,
    ),
    route(
      'POST',
      `${platform}/payment_methods`,
      { summary: 'Add a payment method that requests may name', body: 'payment_method' },
      async (call) => operator.addPaymentMethod(id(call), call.body()),
    ),
    route(
      'POST',
      `${platform}/invoice_templates`,
      { summary: 'Add an invoice template that requests may name', body: 'invoice_template' },
      async (call) => operator.addTemplate(id(call), call.body()),
    ),
    route(
      'POST',
      `${platform}/test_clocks`,
      { summary: 'Add a test clock', body: 'test_clock' },
      async (call) => operator.addClock(id(call), call.body()),
    ),
    route(
      'POST',
      `${platform}/tick`,
      { summary: 'Do at once what is due by the time', body: 'tick' },
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
      { summary: 'Retrieve an account with what its platform does not see' },
      async (call) => operator.account(at(call)),
    ),
    route('POST', `${account}/close`, { summary: 'Close an account' }, async (call) =>
      operator.closeAccount(at(call)),
    ),
    route(
      'PATCH',
      `${account}/state`,
      {
        summary: 'Say something about an account, or about a check that waits',
        body: 'account_state',
      },
      async (call) => operator.patchState(at(call), call.body()),
    ),
    route(
      'POST',
      `${account}/requirements`,
      { summary: 'Ask an account for something', body: 'requirement_injection' },
      async (call) => operator.inject(at(call), call.body()),
    ),
    route(
      'DELETE',
      `${account}/requirements/:entry`,
      { summary: 'Take back what it was asked for' },
      async (call) => operator.removeInjected(at(call), call.param('entry')),
    ),
    route('POST', '/rotate_key', { summary: 'Seal what is stored with a new key' }, async () =>
      operator.rotateKey(),
    ),
  ];
}

/** Throws `invalid_fields`. */
function readFilters(url: string) {
  const query = new Query(url);
  const filters = {
    livemode: query.flag('livemode') === true,
    isClosed: query.flag('closed') === true,
    limit: query.whole('limit', PAGE_LIMIT),
    page: query.text('page'),
  };
  query.end();
  return filters;
}
