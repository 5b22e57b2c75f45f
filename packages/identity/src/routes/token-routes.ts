import {
  checkedRoute,
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  inputCheck,
  isJsonType,
  jsonAnswer,
  messageOf,
  OpenApi,
  type Permission,
  parseJson,
  queryOf,
  type Route,
  requestError,
} from '@plinth/kernel';
import { GRANTED_TOKEN_PATH, OPERATOR_TOKEN_PATH, TOKEN_PATH } from '../domain/access-gate.js';
import type { ApiTokens } from '../domain/api-tokens.js';
import type { FirstTokenClaim } from '../domain/first-token-claim.js';
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

const { answer, json } = OpenApi;
const MADE = { 201: answer('the token; its text is shown this once', json(TokenObject)) } as const;

/** Source: tsdb-http, "Tokens", endpoints. */
export const tokenRoutes = (
  tokens: ApiTokens,
  claim: Pick<FirstTokenClaim, 'complete'>,
): readonly Route[] => [
  {
    method: 'POST',
    path: OPERATOR_TOKEN_PATH,
    access: 'first_token',
    about: {
      summary: 'Create the first admin token; needs no token',
      description:
        'Through a proxy, or where the server listens beyond loopback, the header `X-Plinth-Claim-Code` must contain the claim code of the server.',
    },
    output: MADE,
    errors: {
      401: 'the credential is wrong',
      403: 'the claim code is missing or wrong',
      409: 'there is one',
      429: 'too many wrong claim codes',
    },
    async handle(request) {
      const byTokenId = callerOf(request);
      const issued = await tokens.createOperator(byTokenId);
      if (byTokenId === undefined) await claim.complete(request.client.address);
      return issuedAnswer(issued);
    },
  },
  {
    method: 'POST',
    path: `${OPERATOR_TOKEN_PATH}/regenerate`,
    access: 'admin',
    about: { summary: 'Replace the admin token' },
    output: MADE,
    errors: { 404: 'there is no admin token to replace' },
    handle: async (request) => issuedAnswer(await tokens.regenerateOperator(callerOf(request))),
  },
  checkedRoute({
    method: 'POST',
    path: `${TOKEN_PATH}/named_admin`,
    access: 'admin',
    body: { ...BODY, parse: jsonIn },
    about: { summary: 'Make a named admin token' },
    input: { body: CreateNamedToken },
    output: MADE,
    errors: { 409: 'the name is taken', 415: 'the body is no JSON' },
    check(request) {
      if (!isJson(request)) throw requestError('content_type_unacceptable');
    },
    async handle(request, { body: { token_name: name, expiry_secs } }) {
      const byTokenId = callerOf(request);
      const wanted = { name, expirySec: expiry_secs ?? undefined, byTokenId };
      return issuedAnswer(await tokens.createNamed(wanted));
    },
  }),
  checkedRoute({
    method: 'POST',
    path: GRANTED_TOKEN_PATH,
    access: 'admin',
    body: { ...BODY, parse: jsonIn },
    about: {
      summary: 'Make a token with permissions',
      description: 'It reads and writes the databases that it names, and nothing else.',
    },
    input: { body: CreateGrantedToken },
    output: MADE,
    errors: {
      400: 'a permission means nothing: the answer says which part of it',
      409: 'the name is taken',
      415: 'the body is no JSON',
    },
    check(request) {
      if (!isJson(request)) throw requestError('content_type_unacceptable');
    },
    async handle(request, { body: { token_name: name, expiry_secs, permissions } }) {
      return issuedAnswer(
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
    about: { summary: 'End a named token' },
    input: { query: DeleteToken, validation: 'the name may stand in a JSON body instead' },
    output: { 200: answer('it is valid no longer') },
    errors: { 404: 'there is no such token', 405: 'the admin token cannot be deleted' },
    async handle(request) {
      await tokens.delete(checkDeletion(nameIn(request)).token_name);
      return emptyAnswer(200);
    },
  },
];

const issuedAnswer = (issued: IssuedToken): HttpAnswer => jsonAnswer(201, toTokenObject(issued));

type GivenPermission = CreateGrantedToken['permissions'][number];

function permissionOf(given: GivenPermission): Permission {
  const { resource_identifier: identifier, resource_names: names } = given;
  if (identifier !== undefined && names !== undefined) {
    throw identityError('conflicting_values', 'resource_identifier');
  }
  const read = readPermission({ ...given, names: identifier ?? names ?? [] });
  if ('fault' in read) throw identityError('permission_invalid', read.fault);
  return read.permission;
}

const callerOf = ({ principal }: HttpRequest): number | undefined =>
  principal.kind === 'admin' ? principal.tokenId : undefined;

const isJson = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  isJsonType(headers['content-type']);

/** `undefined`: there is no body, or it does not say that it is JSON. */
function jsonIn(request: HttpRequest): unknown {
  const { body } = request;
  if (body.byteLength === 0 || !isJson(request)) return undefined;
  try {
    return parseJson(body, { maxValueCount: MAX_VALUE_COUNT });
  } catch (error) {
    throw identityError('json_invalid', messageOf(error), error);
  }
}

/** Management calls take their parameters from the query string or a JSON body. */
function nameIn(request: HttpRequest): { readonly token_name?: unknown } {
  const given = new URLSearchParams(queryOf(request.url)).getAll('token_name');
  // More than one is no text, for the check to refuse.
  const inQuery = given.length > 1 ? given : given[0];
  const body = jsonIn(request);
  const isInBody = typeof body === 'object' && body !== null && Object.hasOwn(body, 'token_name');
  if (!isInBody) return inQuery === undefined ? {} : { token_name: inQuery };
  const name: unknown = Reflect.get(body, 'token_name');
  if (inQuery !== undefined && inQuery !== name)
    throw identityError('conflicting_values', 'token_name');
  return { token_name: name };
}
