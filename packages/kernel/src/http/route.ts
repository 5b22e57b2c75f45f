import type { Static, TObject, TSchema } from 'typebox';
import type { PrincipalOf, RouteAccess } from './access/route-access.js';
import type { ApiConventions } from './api-conventions.js';
import type { HttpHead, HttpHeaders, HttpRequest } from './http-request.js';
import type { HttpResponse } from './http-response.js';
import type { RouteCost } from './route-cost.js';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Memory for large bodies. */
export interface BodyMemory {
  /** Returns memory for a body; `undefined` when none is available. */
  take(sizeBytes: number): Buffer | undefined;
  /** Releases the memory of a rejected or truncated body. A handler releases its body itself. */
  release(body: Uint8Array): void;
  /** Releases a piece that has been copied. */
  free(piece: Uint8Array): void;
}

/** The way in which a route reads bodies. */
export interface BodyRule {
  /** The limit, as sent and as decoded. */
  readonly maxBytes: number;
  /** The handler decodes the `content-encoding` itself. */
  readonly isLeftEncoded?: boolean;
  readonly memory?: BodyMemory;
  /** Parses the value that `input.body` validates; a JSON object (`jsonObjectOf`) by default. May throw. */
  parse?(request: HttpRequest): unknown;
}

/** The description of a route. */
export interface RouteAbout {
  readonly summary: string;
  readonly description?: string;
  /** The id by which clients or pages refer to it. */
  readonly operationId?: string;
  readonly tags?: readonly string[];
}

export interface RouteInput {
  readonly parameters?: TObject;
  readonly query?: TObject;
  /** Only described; handlers read headers themselves. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** JSON by default. */
  readonly bodyType?: string;
  readonly isBodyOptional?: boolean;
  /** Set when the input is not validated before the handler: where it is validated instead. */
  readonly validation?: string;
}

/** The parts of a validated input, as typed by their schemas; `undefined` when validated elsewhere. */
export type CheckedInput<Input extends RouteInput> = {
  readonly [Part in 'parameters' | 'query' | 'body']: Input extends { readonly validation: string }
    ? undefined
    : Input[Part] extends TSchema
      ? Static<Input[Part]>
      : unknown;
};

/** A response in the OpenAPI description. */
export interface RouteOutput {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}

export type RouteOutputs = Readonly<Record<number, RouteOutput>> & {
  /** For any other status. */
  readonly default?: RouteOutput;
};

/** The query that a download URL was created for. It is processed when a client requests the URL. */
export interface DownloadRequest {
  readonly method: RouteMethod;
  /** Path and query in normal form. */
  readonly url: string;
  /** Credential and content type; all other headers are taken from the request for the URL. */
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
  /** Adapts the response for the client that requested the URL. */
  adaptResponse(response: HttpResponse): HttpResponse;
}

/** One method of one path, with everything that is declared about it. */
export interface Route<
  Input extends RouteInput = RouteInput,
  Access extends RouteAccess = RouteAccess,
> {
  readonly method: RouteMethod;
  /** `/things/:id`; a final `*` matches the rest of the path. Contains only unreserved characters. */
  readonly path: string;
  readonly access: Access;
  /** The cost of a request; by default the cost of the service. */
  readonly cost?: RouteCost;
  /** Absent when bodies are not read. */
  readonly body?: BodyRule;
  readonly about: RouteAbout;
  /** Absent when the route reads no input. Validated between body and handler, unless validated elsewhere. */
  readonly input?: Input;
  /** Responses by status. */
  readonly output: RouteOutputs;
  /** Errors by status, in addition to errors of access, body and the API conventions. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Another path of a route that is described elsewhere. */
  readonly isAlias?: boolean;
  /** Whether a GET route also handles HEAD; true by default. */
  readonly hasHead?: boolean;
  /** A GET route whose query may contain statements of up to 1 MB. */
  readonly takesLongQuery?: boolean;
  /** Checks the head before the body is read. Throws to reject the request. */
  check?(request: Omit<HttpRequest<PrincipalOf<Access>>, 'body'>): void;
  /**
   * Only for download URLs: returns the request to process in place of this one; `undefined` if the URL was used or has
   * expired.
   */
  downloadOf?(parameters: HttpRequest['parameters']): DownloadRequest | undefined;
  /** May throw; the API conventions format the error. Synchronous where possible. */
  handle(
    request: HttpRequest<PrincipalOf<Access>>,
    input: CheckedInput<Input>,
  ): HttpResponse | Promise<HttpResponse>;
}

/** Creates a route whose handler types follow from `input` and `access`. */
export const checkedRoute = <const Input extends RouteInput, const Access extends RouteAccess>(
  route: Route<Input, Access>,
): Route => route;

/** Routes with the same API conventions. */
export interface RouteGroup {
  readonly conventions: ApiConventions;
  /** The name of the API description: `docs/api/<name>.json`. */
  readonly api: string;
  /** Formats errors of these routes differently from the API conventions. */
  errorResponse?(error: unknown, request: HttpHead): HttpResponse;
  readonly routes: readonly Route[];
}
