import type { Route } from '@plinth/kernel';
import type { Persons, PersonWrite } from '../domain/account/persons.js';
import type { Tokens } from '../domain/account/tokens.js';
import { readJson } from './bodies.js';
import { pageQuery } from './description.js';
import { listRequest } from './lists.js';
import type { Call, CallDocs, PlatformRoutes } from './platform-routes.js';
import { QueryString } from './query-string.js';
import type { RequestShapes } from './request-shapes.js';

const LIST: CallDocs = { summary: 'List persons', response: 'Page', query: pageQuery() };
const CREATE: CallDocs = { summary: 'Create a person', response: 'Person', body: 'person_create' };
const SHOW: CallDocs = { summary: 'Retrieve a person', response: 'Person' };
const UPDATE: CallDocs = { summary: 'Update a person', response: 'Person', body: 'person_update' };
const DELETE: CallDocs = { summary: 'Delete a person', response: 'Deleted' };
const PERSON_TOKEN: CallDocs = {
  summary: 'Create a person token',
  response: 'Token',
  body: 'person_token',
};
const SHOW_PERSON_TOKEN: CallDocs = { summary: 'Retrieve a person token', response: 'Token' };
const ACCOUNT_TOKEN: CallDocs = {
  summary: 'Create an account token',
  response: 'Token',
  body: 'account_token',
};
const SHOW_ACCOUNT_TOKEN: CallDocs = { summary: 'Retrieve an account token', response: 'Token' };

/** Returns the routes for persons and tokens. Source: accounts, section 7, E6 to E14. */
export function personRoutes(
  routes: PlatformRoutes,
  deps: { readonly persons: Persons; readonly tokens: Tokens; readonly shapes: RequestShapes },
): readonly Route[] {
  const { persons, shapes } = deps;
  const person = '/v2/core/accounts/:account/persons/:person';
  const at = (call: Call) => ({ accountId: call.param('account'), id: call.param('person') });
  const write = (call: Call, shape: 'person_create' | 'person_update'): PersonWrite => {
    const body = readBody(call);
    return { body, requestFields: shapes.check(shape, body) };
  };
  return [
    routes.change('POST', '/v2/core/accounts/:account/persons', CREATE, async (call) => {
      const requestFields = write(call, 'person_create');
      return await persons.create(call.context, call.param('account'), requestFields);
    }),
    routes.get('/v2/core/accounts/:account/persons', LIST, async (call) => {
      const query = new QueryString(call.request.url);
      const request = listRequest(call, query, []);
      query.refuseUnknown();
      return await persons.list(call.context, call.param('account'), request);
    }),
    routes.get(person, SHOW, async (call) => {
      new QueryString(call.request.url).refuseUnknown();
      const { body, etag } = await persons.retrieve(call.context, at(call));
      return call.context.isOperator === true ? { body, etag } : body;
    }),
    routes.change('POST', person, UPDATE, async (call) => {
      return await persons.update(call.context, at(call), write(call, 'person_update'));
    }),
    routes.change('DELETE', person, DELETE, async (call) => {
      new QueryString(call.request.url).refuseUnknown();
      return await persons.delete(call.context, at(call));
    }),
    ...tokenRoutes(routes, deps),
  ];
}

function tokenRoutes(
  routes: PlatformRoutes,
  { tokens, shapes }: { readonly tokens: Tokens; readonly shapes: RequestShapes },
): readonly Route[] {
  const path = '/v2/core/accounts/:account/person_tokens';
  const anyKey = { allows: 'any' } as const;
  const createPersonToken = async (call: Call) => {
    const body = readBody(call);
    const requestFields = shapes.check<unknown>('person_token', body);
    return await tokens.createPersonToken(call.context, call.param('account'), {
      body,
      requestFields,
    });
  };
  const createAccountToken = async (call: Call) => {
    const body = readBody(call);
    const requestFields = shapes.check<unknown>('account_token', body);
    return await tokens.createAccountToken(call.context, { body, requestFields });
  };
  return [
    routes.change('POST', path, PERSON_TOKEN, createPersonToken, anyKey),
    routes.get(`${path}/:token`, SHOW_PERSON_TOKEN, async (call) => {
      new QueryString(call.request.url).refuseUnknown();
      const accountId = call.param('account');
      return await tokens.retrieve(call.context, 'person', { id: call.param('token'), accountId });
    }),
    routes.change('POST', '/v2/core/account_tokens', ACCOUNT_TOKEN, createAccountToken, anyKey),
    routes.get('/v2/core/account_tokens/:token', SHOW_ACCOUNT_TOKEN, async (call) => {
      new QueryString(call.request.url).refuseUnknown();
      return await tokens.retrieve(call.context, 'account', { id: call.param('token') });
    }),
  ];
}

function readBody({ request }: Call): Record<string, unknown> {
  new QueryString(request.url).refuseUnknown();
  return readJson(request);
}
