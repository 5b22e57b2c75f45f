import {
  type BodyRule,
  bytesAnswer,
  type Clock,
  type HttpAnswer,
  type HttpHead,
  type HttpRequest,
  invariant,
  type Route,
} from '@plinth/kernel';
import type { Attempt } from '../../domain/edit/draft.js';
import type { Editor } from '../../domain/edit/editor.js';
import type { Exchange } from '../../domain/exchange/exchange.js';
import type { Library } from '../../domain/library.js';
import { JSON_TYPE } from '../public-headers.js';
import type { EditorAccess, Scope } from './editor-access.js';
import { RECORD_BODY, refuseOtherTypes } from './editor-body.js';
import { KeptReplies, type ReplyStore } from './kept-replies.js';

export interface EditorRouteParts {
  readonly library: Library;
  readonly editor: () => Editor;
  readonly exchange: () => Exchange;
  readonly replies: ReplyStore;
  readonly access: EditorAccess;
  readonly ready: () => Promise<void> | undefined;
  readonly clock: Clock;
  readonly maxImportBytes: number;
  /** Of every answer. */
  headersFor(request: HttpHead): Readonly<Record<string, string>>;
}

interface Reply {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
export type Handle = (request: HttpRequest, actor: string) => Promise<Reply>;
export type Work = (request: HttpRequest, attempt: Attempt) => Promise<unknown>;

/** What every route of the editor does: ask who it is, wait until the data are there, answer in JSON. */
export class EditorRouter {
  readonly parts: EditorRouteParts;
  readonly #replies: KeptReplies;

  constructor(parts: EditorRouteParts) {
    this.parts = parts;
    this.#replies = new KeptReplies(parts.replies, parts.clock);
  }

  route(
    method: Route['method'],
    path: string,
    scope: Scope,
    handle: Handle,
    body = RECORD_BODY,
  ): readonly Route[] {
    return this.answering(
      { method, path, scope, ...(method !== 'GET' && { body }) },
      async (request, actor) => this.answer(request, await handle(request, actor)),
    );
  }

  /** As `route`, for answers of any form. */
  answering(
    at: {
      readonly method: Route['method'];
      readonly path: string;
      readonly scope: Scope;
      readonly body?: BodyRule;
    },
    handle: (request: HttpRequest, actor: string) => Promise<HttpAnswer>,
  ): readonly Route[] {
    const { method, path, scope, body } = at;
    const { access, ready } = this.parts;
    return withSlash(path).map((each) => ({
      method,
      path: each,
      access: 'editor',
      ...(body !== undefined && { body }),
      check(request) {
        access.require(request, scope);
        if (body !== undefined) refuseOtherTypes(request);
      },
      async handle(request) {
        const actor = access.actorOf(request);
        invariant(actor, 'a request is checked before it is handled');
        await ready();
        return await handle(request, actor.name);
      },
    }));
  }

  /** A change that is done once, however often a client sends it with the same `Idempotency-Key`. */
  post(
    path: string,
    scope: Scope,
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
    return this.route('POST', path, scope, handle, more.body);
  }

  answer(request: HttpRequest, { body, headers }: Reply): HttpAnswer {
    const all = { ...this.parts.headersFor(request), ...headers };
    return bytesAnswer(200, JSON_TYPE, Buffer.from(JSON.stringify(body)), Object.entries(all));
  }
}

/** Paths of the editor, which have one slash at the end as well. */
export const withSlash = (path: string): readonly string[] => [
  `/api/editor/${path}`,
  `/api/editor/${path}/`,
];
