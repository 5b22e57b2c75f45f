import {
  type BodyRule,
  described,
  emptyResponse,
  encodeResponse,
  type HttpRequest,
  type HttpResponse,
  type Route,
  type RouteDocs,
  type RouteMethod,
} from '@plinth/kernel';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TsdbSettings } from '../settings/config.js';
import { ManagementInput } from './configure/management-input.js';
import { HANDLER_VALIDATION, MANAGEMENT_FAILED, NO_CONTENT } from './description.js';

export type FieldsOfErrors = Readonly<Partial<Record<TsdbError['kind'], string>>>;

/**
 * Creates routes for administrators, and query routes for principals with any permission. Bodies
 * may be as large as the service's limit.
 */
export class RouteBuilder {
  readonly #body: BodyRule;
  readonly #mayEncode: boolean;

  constructor({ max_request_size_bytes, compress_answers }: TsdbSettings) {
    this.#body = { maxBytes: max_request_size_bytes };
    this.#mayEncode = compress_answers;
  }

  get(path: string, docs: RouteDocs, handle: Route['handle']): Route {
    return { method: 'GET', path, access: 'admin', ...described(docs, HANDLER_VALIDATION), handle };
  }

  send(
    method: Exclude<RouteMethod, 'GET'>,
    path: string,
    docs: RouteDocs,
    handle: Route['handle'],
  ): Route {
    return {
      method,
      path,
      access: 'admin',
      body: this.#body,
      ...described(docs, HANDLER_VALIDATION),
      handle,
    };
  }

  /**
   * A query route for GET and POST. The response may be compressed. Any grantee can use it; the
   * handler checks the permissions.
   */
  query(path: string, docs: RouteDocs, response: Route['handle']): readonly Route[] {
    const { body, query, ...others } = docs;
    const handle = this.#mayEncode ? encoded(response) : response;
    const byUrl = { ...others, ...(query && { query }) };
    return [
      { ...this.get(path, byUrl, handle), takesLongQuery: query !== undefined && 'q' in query },
      this.send('POST', path, body === undefined ? byUrl : { ...others, body }, handle),
    ].map((route) => ({ ...route, access: 'granted' }));
  }

  /** A route that runs `act` and responds without a body. */
  command(
    method: Exclude<RouteMethod, 'GET'>,
    path: string,
    docs: RouteDocs,
    act: (input: ManagementInput) => Promise<unknown>,
    options: {
      readonly status?: 204;
      readonly isOfQuery?: boolean;
      /** The field of the request that an error kind refers to. */
      readonly fields?: FieldsOfErrors;
    } = {},
  ): Route {
    const done = emptyResponse(options.status ?? 200);
    const output = options.status === 204 && NO_CONTENT;
    const all = { errors: MANAGEMENT_FAILED, ...(output && { output }), ...docs };
    return this.send(method, path, all, async (request) => {
      const { isOfQuery = false, fields = {} } = options;
      try {
        await act(isOfQuery ? ManagementInput.ofQuery(request) : ManagementInput.of(request));
      } catch (error) {
        if (tsdbError.is(error)) error.field ??= fields[error.kind];
        throw error;
      }
      return done;
    });
  }
}

/** Responses that are not compressed are returned without an extra await. */
function encoded(response: Route['handle']): Route['handle'] {
  return (request, ...others) => {
    const result = response(request, ...others);
    if (request.headers['accept-encoding'] === undefined) return result;
    return encodedResponse(result, request);
  };
}

async function encodedResponse(
  result: ReturnType<Route['handle']>,
  { headers }: HttpRequest,
): Promise<HttpResponse> {
  return await encodeResponse(await result, headers);
}
