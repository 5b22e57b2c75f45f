import type { Route } from '@plinth/kernel';
import { Type } from 'typebox';
import { readPage } from '../domain/account/account-pages.js';
import type { Accounts, AccountWrite } from '../domain/account/accounts.js';
import { invalidFields } from '../domain/refusals.js';
import {
  CONFIGURATION_NAMES,
  type ConfigurationName,
} from '../model/account/configuration-name.js';
import type { VendorWord } from '../model/platform/vendor-word.js';
import { INCLUDES, type Include } from '../model/shape/account-params.js';
import { readJson } from './bodies.js';
import { pageQuery, texts } from './description.js';
import { listRequest } from './lists.js';
import type { Call, CallDocs, PlatformRoutes } from './platform-routes.js';
import { QueryString } from './query-string.js';
import type { RequestShapes } from './request-shapes.js';

export interface AccountRoutesDeps {
  readonly accounts: Accounts;
  readonly shapes: RequestShapes;
  readonly vendorWord: VendorWord;
}

const PATH = '/v2/core/accounts';

const LIST: CallDocs = {
  summary: 'List accounts',
  response: 'Page',
  query: pageQuery({
    applied_configurations: texts(CONFIGURATION_NAMES),
    closed: Type.Optional(Type.Boolean({ default: false })),
  }),
};
const CREATE: CallDocs = {
  summary: 'Create an account',
  response: 'Account',
  body: 'account_create',
};
const SHOW: CallDocs = {
  summary: 'Retrieve an account',
  response: 'Account',
  query: { include: texts(INCLUDES) },
};
const UPDATE: CallDocs = {
  summary: 'Update an account',
  response: 'Account',
  body: 'account_update',
};
const CLOSE: CallDocs = { summary: 'Close an account', response: 'Account', body: 'account_close' };

/** Returns the account routes. Source: accounts, section 7, E1 to E5. */
export function accountRoutes(routes: PlatformRoutes, deps: AccountRoutesDeps): readonly Route[] {
  const { accounts, shapes } = deps;
  const content = { makesContent: true };
  const update = async (call: Call) => {
    const write = readWrite(call, deps, 'account_update');
    return await accounts.update(call.context, call.param('account'), write);
  };
  return [
    routes.change(
      'POST',
      PATH,
      CREATE,
      async (call) => await accounts.create(call.context, readWrite(call, deps, 'account_create')),
      content,
    ),
    routes.get(PATH, LIST, async (call) => await listAccounts(call, accounts)),
    routes.get(`${PATH}/:account`, SHOW, async (call) => {
      const query = new QueryString(call.request.url);
      const include = readIncludes(query.list('include', includesFor(call)));
      query.refuseUnknown();
      const id = call.param('account');
      if (call.context.isOperator !== true)
        return await accounts.retrieve(call.context, id, include);
      // The tag is read before the account, so that a concurrent change makes the tag outdated, not
      // the body.
      const etag = await accounts.etag(call.context, id);
      return { etag, body: await accounts.retrieve(call.context, id, include) };
    }),
    routes.change('POST', `${PATH}/:account`, UPDATE, update, content),
    routes.change('POST', `${PATH}/:account/close`, CLOSE, async (call) => {
      const body = readJson(call.request);
      const { applied_configurations: appliedConfigurations } = shapes.check<{
        applied_configurations?: readonly ConfigurationName[];
      }>('account_close', body);
      const closeCall = { body, appliedConfigurations };
      return await accounts.close(call.context, call.param('account'), closeCall);
    }),
  ];
}

async function listAccounts(call: Call, accounts: Accounts): Promise<string> {
  const query = new QueryString(call.request.url);
  const names = query.list('applied_configurations', CONFIGURATION_NAMES);
  const isClosed = query.flag('closed');
  const request = listRequest(call, query, [
    ...names.map((name, index) => [`applied_configurations[${index}]`, name] as const),
    ...(isClosed === undefined ? [] : [['closed', String(isClosed)] as const]),
  ]);
  query.refuseUnknown();
  readPage(request);
  const configurations = CONFIGURATION_NAMES.filter((name) => names.includes(name));
  return await accounts.list(call.context, request, {
    isClosed: isClosed === true,
    configurations,
  });
}

function readWrite(
  call: Call,
  { shapes, vendorWord }: AccountRoutesDeps,
  shape: 'account_create' | 'account_update',
): AccountWrite {
  new QueryString(call.request.url).refuseUnknown();
  const body = readJson(call.request);
  const checked = shapes.check<AccountWrite['requestFields'] & { include?: readonly Include[] }>(
    shape,
    vendorWord.toInternal(body),
  );
  const { include = [], ...rest } = checked;
  refuseIncludes(include, includesFor(call));
  return { body, requestFields: rest, include: readIncludes(include) };
}

/**
 * `configuration.storer` is available only to platforms with its preview. Source: accounts, section
 * 11.
 */
function includesFor({ context }: Call): readonly Include[] {
  const { storer_preview: isPreviewed } = context.settings;
  return isPreviewed ? INCLUDES : INCLUDES.filter((name) => name !== 'configuration.storer');
}

function refuseIncludes(names: readonly Include[], allowed: readonly Include[]): void {
  const index = names.findIndex((name) => !allowed.includes(name));
  if (index < 0) return;
  const field = `include.${index}`;
  const message = `${field} cannot be "${names[index]}"; use one of ${allowed.join(', ')}.`;
  throw invalidFields([{ field, code: 'invalid_enum', message }]);
}

const readIncludes = (names: readonly string[]): ReadonlySet<Include> =>
  new Set(INCLUDES.filter((name) => names.includes(name)));
