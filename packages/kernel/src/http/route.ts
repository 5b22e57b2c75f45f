import type { Static, TObject, TSchema } from 'typebox';
import type { PrincipalOf, RouteAccess } from './access/route-access.js';
import type { Dialect } from './dialect.js';
import type { HttpAnswer } from './http-answer.js';
import type { HttpHead, HttpHeaders, HttpRequest } from './http-request.js';
import type { RouteCost } from './route-cost.js';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Memory for large bodies. */
export interface BodyMemory {
  /** `undefined`: there is none. */
  take(sizeBytes: number): Buffer | undefined;
  /** A body that was refused or cut is not needed any more; one that reached its handler is given back by that. */
  release(body: Uint8Array): void;
  /** A piece was copied. */
  free(piece: Uint8Array): void;
}

/** How a route takes bodies. */
export interface BodyRule {
  /** As sent and as decoded. */
  readonly maxBytes: number;
  /** What `content-encoding` says is left to the handler. */
  readonly isLeftEncoded?: boolean;
  readonly memory?: BodyMemory;
  /** What `input.body` is checked against; a JSON object (`jsonObjectOf`) unless told otherwise. Throws. */
  parse?(request: HttpRequest): unknown;
}

/** What a route is for. */
export interface RouteAbout {
  readonly summary: string;
  readonly description?: string;
  /** Under which clients or pages know it. */
  readonly operationId?: string;
  readonly tags?: readonly string[];
}

/** What a route is told, part by part. */
export interface RouteInput {
  readonly parameters?: TObject;
  readonly query?: TObject;
  /** Only described: whoever needs a header reads it. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** JSON unless told otherwise. */
  readonly bodyType?: string;
  readonly isBodyOptional?: boolean;
  /** Why it is not checked before it is handled: who judges it instead. */
  readonly validation?: string;
}

/** Parts of a checked input, as their schemas type them; of one that is judged elsewhere none. */
export type CheckedInput<Input extends RouteInput> = {
  readonly [Part in 'parameters' | 'query' | 'body']: Input extends { readonly validation: string }
    ? undefined
    : Input[Part] extends TSchema
      ? Static<Input[Part]>
      : unknown;
};

/** An answer, as OpenAPI describes it. */
export interface RouteOutput {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}

export type RouteOutputs = Readonly<Record<number, RouteOutput>> & {
  /** Of any other status. */
  readonly default?: RouteOutput;
};

/** A request that was made earlier, for somebody who brings a link in its place. */
export interface StoredRequest {
  readonly method: RouteMethod;
  /** Path and query in their normal form. */
  readonly url: string;
  /** Credential and type of the body; all else is as with the link. */
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
  /** The answer as it goes to whoever brought the link. */
  dress(answer: HttpAnswer): HttpAnswer;
}

/** One method of one path: all that is said of it anywhere. */
export interface Route<
  Input extends RouteInput = RouteInput,
  Access extends RouteAccess = RouteAccess,
> {
  readonly method: RouteMethod;
  /** `/things/:id`; `*` at the end takes all that follows. Unreserved characters alone. */
  readonly path: string;
  readonly access: Access;
  /** What a request costs its caller; the service's own rule unless told otherwise. */
  readonly cost?: RouteCost;
  /** Absent: bodies are not read. */
  readonly body?: BodyRule;
  readonly about: RouteAbout;
  /** Absent: nothing that it reads. Checked between body and handler, unless it is judged elsewhere. */
  readonly input?: Input;
  /** By status. */
  readonly output: RouteOutputs;
  /** When it refuses, by status, beside what its access, its body and its dialect refuse. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Another path of a route that is described under its own. */
  readonly isAlias?: boolean;
  /** A GET answers HEAD as well, unless this is false. */
  readonly hasHead?: boolean;
  /** A GET whose query may be a megabyte: statements stand in it. */
  readonly takesLongQuery?: boolean;
  /** What can be refused by the head alone, before the body is read. Throws. */
  check?(request: Omit<HttpRequest<PrincipalOf<Access>>, 'body'>): void;
  /** What a request to it stands for: that goes its whole way in its place. `undefined`: for nothing but itself. */
  storedRequest?(parameters: HttpRequest['parameters']): StoredRequest | undefined;
  /** May throw; the dialect words it. At once where it can. */
  handle(
    request: HttpRequest<PrincipalOf<Access>>,
    input: CheckedInput<Input>,
  ): HttpAnswer | Promise<HttpAnswer>;
}

/** A route whose handler gets what `input` says, and whom `access` lets in. */
export const checkedRoute = <const Input extends RouteInput, const Access extends RouteAccess>(
  route: Route<Input, Access>,
): Route => route;

/** Routes that speak one dialect. */
export interface RouteTable {
  readonly dialect: Dialect;
  /** Name of the description that tells of them: `docs/api/<name>.json`. */
  readonly api: string;
  /** Other words for what these routes throw. */
  answerError?(error: unknown, request: HttpHead): HttpAnswer;
  readonly routes: readonly Route[];
}
