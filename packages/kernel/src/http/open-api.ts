import { type TObject, type TSchema, type TSchemaOptions, Type } from 'typebox';
import type { RouteAccess } from './access/route-access.js';
import type { ApiRefusals } from './api-conventions.js';
import type { Route, RouteGroup, RouteInput, RouteOutput } from './route.js';

/** The parts of an API description other than its routes. */
export interface ApiDocs {
  readonly title: string;
  readonly description: string;
  readonly version?: string;
  /** Returns the named schemas, which routes refer to with `OpenApi.ref`. */
  schemas?(): Readonly<Record<string, object>>;
}

const ref = (name: string): TSchema => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object): NonNullable<RouteOutput['content']> => ({
  'application/json': { schema },
});
const response = (description: string, content?: RouteOutput['content']): RouteOutput => ({
  description,
  ...(content && { content }),
});

/** Helpers for describing inputs and outputs of routes. Source: OpenAPI 3.1. */
export const OpenApi = {
  oneOf: (names: readonly string[], options: object = {}): TSchema =>
    Type.String({ enum: names, ...options }),
  json,
  text: { 'text/plain': { schema: Type.String() } },
  html: { 'text/html': { schema: Type.String() } },
  nullable: <T extends TSchema>(schema: T, options: TSchemaOptions = {}) =>
    Type.Union([schema, Type.Null()], options),
  ref,
  response,
} as const;

export type ApiDescription = ReturnType<typeof describeApi>;

/** A route and its table. */
export interface DescribedRoute {
  readonly route: Route;
  readonly table: RouteGroup;
}

/**
 * Returns the OpenAPI 3.1 description of these routes. Of two routes with the same method and path, the first is
 * described.
 */
export function describeApi(docs: ApiDocs, described: readonly DescribedRoute[]) {
  const paths: Record<string, Record<string, object>> = {};
  const { title, description, version = API_VERSION } = docs;
  const named: Record<string, object> = { ...docs.schemas?.() };
  const schemes = new Set<keyof typeof CREDENTIALS>();
  for (const { route, table } of described) {
    if (route.isAlias === true) continue;
    const path = pathOf(route);
    const { refusals } = table.conventions;
    if (refusals !== undefined) named[refusals.name] ??= refusals.schema;
    const credential = credentialOf(route.access);
    if (credential !== undefined) schemes.add(credential);
    const methods = paths[path] ?? {};
    methods[route.method.toLowerCase()] ??= operationOf(route, refusals);
    paths[path] = methods;
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: 'http://127.0.0.1:8181' }],
    paths,
    components: {
      schemas: named,
      securitySchemes: Object.fromEntries(
        [...schemes].sort().map((name) => [name, CREDENTIALS[name]]),
      ),
    },
  };
}

const API_VERSION = '0.1.0';
const bearer = (description: string, more: object = {}): object => ({
  type: 'http',
  scheme: 'bearer',
  ...more,
  description,
});
const CREDENTIALS = {
  admin: bearer('an admin token, which starts with apiv3_'),
  app: bearer('a JWT signed by the app with RS256', { bearerFormat: 'JWT' }),
  backup: bearer('an admin token, or one with the permission system:backup:read'),
  granted: bearer('an admin token, or one with permissions'),
  editor: bearer('an editor token'),
  platform: bearer('a platform key, which starts with sk_test_, sk_live_, pk_test_ or pk_live_'),
} as const;

/** Returns the credential kind of a route; `undefined` when none is required. */
function credentialOf(access: RouteAccess): keyof typeof CREDENTIALS | undefined {
  if (typeof access === 'object') return 'admin';
  return access === 'public' || access === 'first_token' ? undefined : access;
}

const parameterNames = ({ path }: Route): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

/** Returns the name of the `*` parameter: the declared parameter that is not in the path. */
function restName(route: Route): string {
  const names = parameterNames(route);
  const declared = Object.keys(route.input?.parameters?.properties ?? {});
  return declared.find((name) => !names.includes(name)) ?? 'rest';
}

const pathOf = (route: Route): string =>
  route.path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, () => `{${restName(route)}}`);

function operationOf(route: Route, refusals: ApiRefusals | undefined): object {
  const { about, input, output } = route;
  const { operationId, summary, description, tags } = about;
  const parameters = parametersOf(route);
  const credential = credentialOf(route.access);
  return {
    ...(operationId !== undefined && { operationId }),
    summary,
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags }),
    ...(parameters.length > 0 && { parameters }),
    ...(input?.body !== undefined && { requestBody: bodyOf(input, input.body) }),
    responses: { ...refusalsOf(route, refusals), ...output },
    security: credential === undefined ? [] : [{ [credential]: [] }],
  };
}

function bodyOf(
  { bodyType = 'application/json', isBodyOptional = false }: RouteInput,
  schema: TSchema,
) {
  return { required: !isBodyOptional, content: { [bodyType]: { schema } } };
}

function parametersOf(route: Route): readonly object[] {
  const { parameters, query, headers } = route.input ?? {};
  const rest = route.path.endsWith('*') ? [restName(route)] : [];
  const inPath = [...parameterNames(route), ...rest].map((name) => {
    const { description, ...schema } = withDescription(
      parameters?.properties[name] ?? Type.String(),
    );
    return { name, in: 'path', required: true, ...(description && { description }), schema };
  });
  return [...inPath, ...membersOf(query, 'query'), ...membersOf(headers, 'header')];
}

const membersOf = (object: TObject | undefined, place: 'query' | 'header'): readonly object[] =>
  Object.entries(object?.properties ?? {}).map(([name, member]) => {
    const { description, style, ...schema } = withDescription(member);
    return {
      name,
      in: place,
      required: object?.required?.includes(name) ?? false,
      ...(description && { description }),
      ...(style && { style }),
      schema,
    };
  });

/** `style` is set for list parameters. */
const withDescription = (schema: TSchema) =>
  schema as { readonly description?: string; readonly style?: string };

const RETRY_AFTER = {
  'Retry-After': { description: 'seconds to wait', schema: { type: 'integer', minimum: 1 } },
};
const hasTime = (status: number): boolean => status === 429 || status === 503;

function refusalsOf(route: Route, refusals: ApiRefusals | undefined): object {
  const hasBody = route.body !== undefined;
  const messages: Readonly<Record<number, string>> = {
    ...(credentialOf(route.access) !== undefined && { 401: 'no valid credential' }),
    ...(route.access === 'granted' && { 403: 'permission denied' }),
    ...(/[:*]/.test(route.path) && { 404: 'not found' }),
    ...(hasBody && { 400: 'the body cannot be read', 413: 'the body is too large' }),
    ...refusals?.shared,
    ...route.errors,
  };
  return Object.fromEntries(
    Object.entries(messages).map(([status, description]) => [
      status,
      {
        description,
        ...(hasTime(Number(status)) && { headers: RETRY_AFTER }),
        ...(refusals && { content: json(ref(refusals.name)) }),
      },
    ]),
  );
}
