import {
  type BodyRule,
  bytesResponse,
  type Clock,
  type HttpRequest,
  type HttpResponse,
  type Route,
  type RouteDescription,
  type RouteDocs,
  type RouteInput,
} from '@plinth/kernel';
import { type TProperties, Type } from 'typebox';
import type { EditRequest } from '../../domain/edit/edit-request.js';
import type { Editor } from '../../domain/edit/editor.js';
import type { ImportExport } from '../../domain/exchange/import-export.js';
import type { Library } from '../../domain/library.js';
import { KIND_WIRE, KINDS } from '../../model/kinds.js';
import { JSON_TYPE, NOT_STORED } from '../content-headers.js';
import { docsOf, failures, text } from '../openapi/route-docs.js';
import { CachedReplies, MAX_KEY_LENGTH, type ReplyStore } from './cached-replies.js';
import { requireScope, type Scope } from './editor-access.js';
import { RECORD_BODY, refuseOtherTypes } from './editor-body.js';

export interface EditorRouteDeps {
  readonly library: Library;
  readonly editor: Editor;
  readonly importExport: ImportExport;
  readonly replies: ReplyStore;
  readonly ready: () => Promise<void> | undefined;
  readonly clock: Clock;
  readonly maxImportBytes: number;
}

interface Reply {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
export type Handle = (request: HttpRequest, actor: string) => Promise<Reply>;
export type Work = (request: HttpRequest, attempt: EditRequest) => Promise<unknown>;

/**
 * Common steps of all editor routes: authenticate, wait until the data is loaded, and return JSON.
 */
export class EditorRouter {
  readonly deps: EditorRouteDeps;
  readonly #replies: CachedReplies;

  constructor(deps: EditorRouteDeps) {
    this.deps = deps;
    this.#replies = new CachedReplies(deps.replies, deps.clock);
  }

  route(
    method: Route['method'],
    path: string,
    scope: Scope,
    docs: RouteDocs,
    handle: Handle,
    body = RECORD_BODY,
  ): readonly Route[] {
    return this.answering(
      { method, path, scope, docs, ...(method !== 'GET' && { body }) },
      async (request, actor) => this.respond(await handle(request, actor)),
    );
  }

  /** Like `route`, for responses of any content type. */
  answering(
    options: {
      readonly method: Route['method'];
      readonly path: string;
      readonly scope: Scope;
      readonly docs: RouteDocs;
      readonly body?: BodyRule;
    },
    handle: (request: HttpRequest, actor: string) => Promise<HttpResponse>,
  ): readonly Route[] {
    const { method, path, scope, docs, body } = options;
    const { ready } = this.deps;
    return withSlash(path).map(
      (each, index): Route<RouteInput, 'editor'> => ({
        method,
        path: each,
        access: 'editor',
        ...editorDocs(path, docs),
        isAlias: index > 0,
        ...(body !== undefined && { body }),
        check(request) {
          requireScope(request.principal.scopes, scope);
          if (body !== undefined) refuseOtherTypes(request);
        },
        async handle(request) {
          await ready();
          return await handle(request, request.principal.name);
        },
      }),
    );
  }

  /**
   * Returns the route of a change that runs once, however often a client repeats it with the same
   * `Idempotency-Key`.
   */
  post(
    path: string,
    scope: Scope,
    docs: RouteDocs,
    work: Work,
    more: {
      readonly body?: BodyRule;
      readonly headersOf?: (request: HttpRequest, body: unknown) => Record<string, string>;
    } = {},
  ): readonly Route[] {
    const handle: Handle = async (request, actor) => {
      const body = await this.#replies.run(request, actor, (attempt) => work(request, attempt));
      return { body, headers: more.headersOf?.(request, body) ?? {} };
    };
    return this.route('POST', path, scope, { ...docs, headers: ONCE }, handle, more.body);
  }

  respond({ body, headers = {} }: Reply): HttpResponse {
    const all = [...NOT_STORED, ...Object.entries(headers)];
    return bytesResponse(200, JSON_TYPE, Buffer.from(JSON.stringify(body)), all);
  }
}

const ONCE: TProperties = {
  'Idempotency-Key': text(
    `1 to ${MAX_KEY_LENGTH} characters; a repeated request within a day gets the same reply`,
  ),
};

/** Path parameters. */
const PARAMETERS: TProperties = {
  type: Type.String({ description: KINDS.map((kind) => KIND_WIRE[kind].typeKey).join(', ') }),
  id: Type.String({ description: 'id of the record' }),
  n: Type.String({ description: 'number of the version' }),
};

/** Returns the API documentation that all editor routes share. */
export const editorDocs = (path: string, docs: RouteDocs): RouteDescription =>
  docsOf('editor', {
    ...docs,
    parameters: Object.fromEntries(
      Object.entries(PARAMETERS).filter(([name]) => path.split('/').includes(`:${name}`)),
    ),
    errors: failures(400, 401, 403, 404, 409, 412, 413, 415, 428),
  });

/** Paths of the editor, each also with a trailing slash. */
export const withSlash = (path: string): readonly string[] => [
  `/api/editor/${path}`,
  `/api/editor/${path}/`,
];
