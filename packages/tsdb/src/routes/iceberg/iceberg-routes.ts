import {
  bytesResponse,
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  type Route,
} from '@plinth/kernel';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { NAMESPACE_SEPARATOR, type Namespace } from '@plinth/tsdb-open-tables/namespaces.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import { Type } from 'typebox';
import { ICEBERG_PATH } from './iceberg-conventions.js';
import { icebergFailure, noNamespace, noTable, OUTPUT } from './iceberg-responses.js';
import { type Page, pageOf } from './pages.js';

const V1 = `${ICEBERG_PATH}/v1`;
const NAMESPACES = '/namespaces';
const NAMESPACE = '/namespaces/:namespace';
const TABLES = '/namespaces/:namespace/tables';
const TABLE = '/namespaces/:namespace/tables/:table';

/**
 * The operations that clients may call in addition to `config`. Source: Apache Iceberg REST catalog specification,
 * `CatalogConfig`.
 */
const ENDPOINTS = [
  `GET /v1/{prefix}${NAMESPACES}`,
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
];

const PAGE = {
  pageToken: Type.Optional(Type.String({ description: 'token of the next page' })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1, description: 'maximum number of names' })),
};
const VALIDATION = 'errors have the format of the catalog specification';
const FAILED = { 404: 'the namespace or table does not exist, or may not be read' };

/** The read-only catalog. Each route shows only databases that the caller may read. */
export function icebergRoutes(
  openTables: OpenTables,
  { isAuthRequired }: { readonly isAuthRequired: boolean },
): readonly Route[] {
  const readable = (request: HttpRequest): readonly Namespace[] => {
    const access = accessOf(request.principal, isAuthRequired);
    return openTables.namespaces().filter(({ database }) => access.mayRead(database));
  };
  const find = (request: HttpRequest): Namespace | undefined => {
    const name = namespaceOf(request);
    return readable(request).find((namespace) => namespace.name === name);
  };
  return [
    route('/config', {
      summary: 'Get the configuration of the Iceberg catalog',
      output: OUTPUT.config,
      handle: () =>
        jsonResponse(200, {
          // Clients override these defaults with their own properties.
          defaults: openTables.readerProperties,
          overrides: {},
          endpoints: ENDPOINTS,
        }),
    }),
    route(NAMESPACES, {
      summary: 'List the namespaces of published databases',
      query: { ...PAGE, parent: Type.Optional(Type.String({ description: 'has no namespaces' })) },
      output: OUTPUT.namespaces,
      handle(request, query) {
        const hasParent = (query.get('parent') ?? '') !== '';
        const names = hasParent ? [] : readable(request).map(({ name }) => name);
        return paged(names, query, (page) => ({ namespaces: page.map((name) => [name]) }));
      },
    }),
    route(NAMESPACE, {
      summary: 'Get a namespace',
      output: OUTPUT.namespace,
      handle(request) {
        const found = find(request);
        if (found === undefined) return noNamespace(namespaceOf(request));
        return jsonResponse(200, {
          namespace: [found.name],
          properties: { 'plinth.database': found.database },
        });
      },
    }),
    route(TABLES, {
      summary: 'List the published tables of a namespace',
      query: PAGE,
      output: OUTPUT.tables,
      handle(request, query) {
        const found = find(request);
        if (found === undefined) return noNamespace(namespaceOf(request));
        const names = openTables.tablesOf(found.database).map(({ name }) => name);
        const namespace = [found.name];
        return paged(names, query, (page) => ({
          identifiers: page.map((name) => ({ namespace, name })),
        }));
      },
    }),
    route(TABLE, {
      summary: 'Get the newest metadata of a table',
      output: OUTPUT.table,
      async handle(request) {
        const found = find(request);
        const name = request.parameters['table'] ?? '';
        // Spark looks for the table `snapshots` in the namespace `db.table` before it loads a metadata table.
        if (found === undefined) return noTable(namespaceOf(request), name);
        const schema = openTables.tablesOf(found.database).find((table) => table.name === name);
        const newest = schema && (await openTables.metadataOf(schema, found.tree));
        if (newest === undefined) return noTable(found.name, name);
        const location = JSON.stringify(newest.location);
        const body = `{"metadata-location":${location},"metadata":${newest.metadata},"config":{}}`;
        return bytesResponse(200, 'application/json', Buffer.from(body));
      },
    }),
  ];
}

function route(
  path: string,
  options: {
    readonly summary: string;
    readonly query?: Parameters<typeof Type.Object>[0];
    readonly output: (typeof OUTPUT)[keyof typeof OUTPUT];
    handle(request: HttpRequest, query: URLSearchParams): HttpResponse | Promise<HttpResponse>;
  },
): Route {
  const withoutBody = (request: HttpRequest, response: HttpResponse): HttpResponse =>
    request.method === 'HEAD' && response.status === 200 ? emptyResponse(204) : response;
  return {
    method: 'GET',
    path: `${V1}${path}`,
    access: 'granted',
    about: { summary: options.summary, tags: ['iceberg'] },
    ...(options.query && { input: { query: Type.Object(options.query), validation: VALIDATION } }),
    output: { 200: options.output },
    errors: FAILED,
    handle(request) {
      const query = new URL(request.url, 'http://localhost').searchParams;
      const response = options.handle(request, query);
      return response instanceof Promise
        ? response.then((each) => withoutBody(request, each))
        : withoutBody(request, response);
    },
  };
}

/** Clients separate the parts of a name, such as a retention policy's, by a control character. */
const namespaceOf = ({ parameters }: HttpRequest): string =>
  (parameters['namespace'] ?? '').split(NAMESPACE_SEPARATOR).join('.');

function paged(
  names: readonly string[],
  query: URLSearchParams,
  toBody: (page: readonly string[]) => object,
): HttpResponse {
  const page: Page | string = pageOf(names, query);
  if (typeof page === 'string') return icebergFailure(400, page);
  return jsonResponse(200, { ...toBody(page.names), 'next-page-token': page.next });
}
