import {
  checkedRoute,
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  inputCheck,
  isJsonType,
  jsonResponse,
  messageOf,
  OpenApi,
  type Permission,
  parseJson,
  queryOf,
  type Route,
  requestError,
} from '@plinth/kernel';
import { GRANTED_TOKEN_PATH, OPERATOR_TOKEN_PATH, TOKEN_PATH } from '../domain/access-control.js';
import type { ApiTokens } from '../domain/api-tokens.js';
import { identityError } from '../errors.js';
import type { IssuedToken } from '../model/api-token.js';
import { readPermission } from '../model/granted.js';
import {
  CreateGrantedToken,
  CreateNamedToken,
  DeleteToken,
  TokenObject,
  toTokenObject,
} from './schemas.js';

const BODY = { maxBytes: 1_048_576 };
const MAX_VALUE_COUNT = 20_000;

const checkDeletion = inputCheck('querystring', DeleteToken);

const { response, json } = OpenApi;
const MADE = {
  201: response('the token, with its text shown only once', json(TokenObject)),
} as const;

/** Routes of admin and named tokens. Source: tsdb-http, "Tokens", endpoints. */
export const tokenRoutes = (
  tokens: ApiTokens,
  createFirst: (request: HttpRequest) => Promise<IssuedToken>,
): readonly Route[] => [
  {
    method: 'POST',
    path: OPERATOR_TOKEN_PATH,
    access: 'first_token',
    about: {
      summary: 'Create the first admin token without a token',
      description:
        'Through a proxy, or if the server listens beyond loopback, the header `X-Plinth-Claim-Code` must contain the claim code of the server.',
    },
    output: MADE,
    errors: {
      401: 'the credential is not valid',
      403: 'the claim code is missing or wrong',
      409: 'the admin token already exists',
      429: 'too many wrong claim codes',
    },
    handle: async (request) => issuedResponse(await createFirst(request)),
  },
  {
    method: 'POST',
    path: `${OPERATOR_TOKEN_PATH}/regenerate`,
    access: 'admin',
    about: { summary: 'Replace the admin token' },
    output: MADE,
    errors: { 404: 'the admin token does not exist' },
    handle: async (request) => issuedResponse(await tokens.regenerateOperator(callerOf(request))),
  },
  checkedRoute({
    method: 'POST',
    path: `${TOKEN_PATH}/named_admin`,
    access: 'admin',
    body: { ...BODY, parse: jsonIn },
    about: { summary: 'Create a named admin token' },
    input: { body: CreateNamedToken },
    output: MADE,
    errors: { 409: 'the name is taken', 415: 'the body is not JSON' },
    check(request) {
      if (!isJson(request)) throw requestError('content_type_unacceptable');
    },
    async handle(request, { body: { token_name: name, expiry_secs } }) {
      const byTokenId = callerOf(request);
      const newToken = { name, expirySec: expiry_secs ?? undefined, byTokenId };
      return issuedResponse(await tokens.createNamed(newToken));
    },
  }),
  checkedRoute({
    method: 'POST',
    path: GRANTED_TOKEN_PATH,
    access: 'admin',
    body: { ...BODY, parse: jsonIn },
    about: {
      summary: 'Create a token with permissions',
      description: 'Grants read and write access only to the databases that it names.',
    },
    input: { body: CreateGrantedToken },
    output: MADE,
    errors: {
      400: 'a permission is not valid; the response names the faulty part',
      409: 'the name is taken',
      415: 'the body is not JSON',
    },
    check(request) {
      if (!isJson(request)) throw requestError('content_type_unacceptable');
    },
    async handle(request, { body: { token_name: name, expiry_secs, permissions } }) {
      return issuedResponse(
        await tokens.createNamed({
          name,
          expirySec: expiry_secs ?? undefined,
          byTokenId: callerOf(request),
          permissions: permissions.map(permissionOf),
        }),
      );
    },
  }),
  {
    method: 'DELETE',
    path: TOKEN_PATH,
    access: 'admin',
    body: BODY,
    about: { summary: 'Delete a named token' },
    input: { query: DeleteToken, validation: 'the name may be in a JSON body instead' },
    output: { 200: response('the token has been deleted') },
    errors: { 404: 'the token does not exist', 405: 'the admin token cannot be deleted' },
    async handle(request) {
      await tokens.delete(checkDeletion(nameIn(request)).token_name);
      return emptyResponse(200);
    },
  },
];

const issuedResponse = (issued: IssuedToken): HttpResponse =>
  jsonResponse(201, toTokenObject(issued));

type GivenPermission = CreateGrantedToken['permissions'][number];

function permissionOf(permission: GivenPermission): Permission {
  const { resource_identifier: identifier, resource_names: names } = permission;
  if (identifier !== undefined && names !== undefined) {
    throw identityError('conflicting_values', 'resource_identifier');
  }
  const read = readPermission({ ...permission, names: identifier ?? names ?? [] });
  if ('fault' in read) throw identityError('permission_invalid', read.fault);
  return read.permission;
}

const callerOf = ({ principal }: HttpRequest): number | undefined =>
  principal.kind === 'admin' ? principal.tokenId : undefined;

const isJson = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  isJsonType(headers['content-type']);

/** Parses a JSON body; `undefined` if the body is empty or not declared as JSON. */
function jsonIn(request: HttpRequest): unknown {
  const { body } = request;
  if (body.byteLength === 0 || !isJson(request)) return undefined;
  try {
    return parseJson(body, { maxValueCount: MAX_VALUE_COUNT });
  } catch (error) {
    throw identityError('json_invalid', messageOf(error), error);
  }
}

/** Management calls accept their parameters in the query string or a JSON body. */
function nameIn(request: HttpRequest): { readonly token_name?: unknown } {
  const names = new URLSearchParams(queryOf(request.url)).getAll('token_name');
  // Several values form an array, which the schema check rejects.
  const inQuery = names.length > 1 ? names : names[0];
  const body = jsonIn(request);
  const isInBody = typeof body === 'object' && body !== null && Object.hasOwn(body, 'token_name');
  if (!isInBody) return inQuery === undefined ? {} : { token_name: inQuery };
  const name: unknown = Reflect.get(body, 'token_name');
  if (inQuery !== undefined && inQuery !== name)
    throw identityError('conflicting_values', 'token_name');
  return { token_name: name };
}
