import { readPage } from '../domain/account-pages.js';
import type { Accounts, AccountWrite } from '../domain/accounts.js';
import { invalidFields } from '../domain/refusals.js';
import { CONFIGURATION_NAMES, type ConfigurationName } from '../model/configuration-name.js';
import { INCLUDES, type Include } from '../model/shape/account-params.js';
import type { VendorWords } from '../model/vendor-words.js';
import { readJson } from './bodies.js';
import type { Call, Handlers } from './handlers.js';
import { listRequest } from './lists.js';
import { CREATE_PATH } from './plain-create.js';
import { Query } from './query.js';
import type { RequestShapes } from './request-shapes.js';

export interface AccountRoutesNeeds {
  readonly accounts: Accounts;
  readonly shapes: RequestShapes;
  readonly words: VendorWords;
}

/** Source: accounts, section 7, E1 to E5. */
export function registerAccountRoutes(handlers: Handlers, needs: AccountRoutesNeeds): void {
  const { accounts, shapes } = needs;
  const content = { makesContent: true };
  handlers.change('POST', CREATE_PATH, (call) => createAccount(call, needs), content);
  handlers.get('/v2/core/accounts', async (call) => {
    const query = new Query(call.request.url);
    const names = query.list('applied_configurations', CONFIGURATION_NAMES);
    const isClosed = query.flag('closed');
    const request = listRequest(call, query, [
      ...names.map((name, index) => [`applied_configurations[${index}]`, name] as const),
      ...(isClosed === undefined ? [] : [['closed', String(isClosed)] as const]),
    ]);
    query.end();
    readPage(request);
    const configurations = CONFIGURATION_NAMES.filter((name) => names.includes(name));
    return await accounts.list(call.context, request, {
      isClosed: isClosed === true,
      configurations,
    });
  });
  handlers.get('/v2/core/accounts/:account', async (call) => {
    const query = new Query(call.request.url);
    const include = readIncludes(query.list('include', includesFor(call)));
    query.end();
    return await accounts.retrieve(call.context, call.param('account'), include);
  });
  const update = async (call: Call) => {
    const write = readWrite(call, needs, 'account_update');
    return await accounts.update(call.context, call.param('account'), write);
  };
  handlers.change('POST', '/v2/core/accounts/:account', update, content);
  handlers.change('POST', '/v2/core/accounts/:account/close', async (call) => {
    const body = readJson(call.request);
    const given = shapes.check<{ applied_configurations?: readonly ConfigurationName[] }>(
      'account_close',
      body,
    );
    const appliedConfigurations = given.applied_configurations;
    return await accounts.close(call.context, call.param('account'), {
      body,
      appliedConfigurations,
    });
  });
}

export const createAccount = async (call: Call, needs: AccountRoutesNeeds) =>
  await needs.accounts.create(call.context, readWrite(call, needs, 'account_create'));

function readWrite(
  call: Call,
  { shapes, words }: AccountRoutesNeeds,
  shape: 'account_create' | 'account_update',
): AccountWrite {
  new Query(call.request.url).end();
  const body = readJson(call.request);
  const given = shapes.check<AccountWrite['given'] & { include?: readonly Include[] }>(
    shape,
    words.takeIn(body),
  );
  const { include = [], ...rest } = given;
  refuseIncludes(include, includesFor(call));
  return { body, given: rest, include: readIncludes(include) };
}

/** The storer configuration is shown where it is previewed. Source: accounts, section 11. */
function includesFor({ context }: Call): readonly Include[] {
  const { storer_preview: isPreviewed } = context.settings;
  return isPreviewed ? INCLUDES : INCLUDES.filter((name) => name !== 'configuration.storer');
}

function refuseIncludes(names: readonly Include[], allowed: readonly Include[]): void {
  const index = names.findIndex((name) => !allowed.includes(name));
  if (index < 0) return;
  const field = `include.${index}`;
  const message = `${field} cannot be "${names[index]}"; it is one of ${allowed.join(', ')}.`;
  throw invalidFields([{ field, code: 'invalid_enum', message }]);
}

const readIncludes = (names: readonly string[]): ReadonlySet<Include> =>
  new Set(INCLUDES.filter((name) => names.includes(name)));
