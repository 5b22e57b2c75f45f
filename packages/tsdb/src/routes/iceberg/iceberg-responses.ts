import { type HttpResponse, jsonResponse, OpenApi } from '@plinth/kernel';
import { Type } from 'typebox';

/** Source: Apache Iceberg REST catalog specification, `ErrorModel`. */
export const ICEBERG_ERROR = Type.Object({
  error: Type.Object({
    message: Type.String(),
    type: Type.String(),
    code: Type.Integer(),
  }),
});

const TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequestException'],
  [401, 'NotAuthorizedException'],
  [403, 'ForbiddenException'],
  [404, 'NotFoundException'],
  [429, 'TooManyRequestsException'],
  [503, 'ServiceUnavailableException'],
]);
const OTHER_TYPE = 'InternalServerError';

export function icebergFailure(
  code: number,
  message: string,
  type: string = TYPES.get(code) ?? OTHER_TYPE,
): HttpResponse {
  return jsonResponse(code, { error: { message, type, code } });
}

export const noNamespace = (name: string): HttpResponse =>
  icebergFailure(404, `namespace does not exist: ${name}`, 'NoSuchNamespaceException');

export const noTable = (namespace: string, name: string): HttpResponse =>
  icebergFailure(404, `table does not exist: ${namespace}.${name}`, 'NoSuchTableException');

const { response, json } = OpenApi;
const Names = Type.Array(Type.Array(Type.String()));
const NextPage = { 'next-page-token': Type.Union([Type.String(), Type.Null()]) };

export const OUTPUT = {
  config: response(
    'defaults of the catalog and its endpoints',
    json(
      Type.Object({
        defaults: Type.Record(Type.String(), Type.String(), {
          description: 'address and region of the bucket, if tables are in one',
        }),
        overrides: Type.Object({}),
        endpoints: Type.Array(Type.String()),
      }),
    ),
  ),
  namespaces: response(
    'readable namespaces',
    json(Type.Object({ namespaces: Names, ...NextPage })),
  ),
  namespace: response(
    'namespace',
    json(
      Type.Object({
        namespace: Type.Array(Type.String()),
        properties: Type.Record(Type.String(), Type.String()),
      }),
    ),
  ),
  tables: response(
    'tables with a readable snapshot',
    json(
      Type.Object({
        identifiers: Type.Array(
          Type.Object({ namespace: Type.Array(Type.String()), name: Type.String() }),
        ),
        ...NextPage,
      }),
    ),
  ),
  table: response(
    'newest metadata of the table',
    json(
      Type.Object({
        'metadata-location': Type.String(),
        metadata: Type.Unknown(),
        config: Type.Object({}),
      }),
    ),
  ),
};
