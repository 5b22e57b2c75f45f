import type { Clock } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Attempt } from '../../domain/edit/draft.js';
import type { Editor } from '../../domain/edit/editor.js';
import type { Exchange } from '../../domain/exchange/exchange.js';
import type { Library } from '../../domain/library.js';
import { JSON_TYPE } from '../public-headers.js';
import type { EditorAccess, Scope } from './editor-access.js';
import { MAX_RECORD_SIZE_BYTES } from './editor-body.js';
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
  headersFor(request: FastifyRequest): Record<string, string>;
}

interface Reply {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
type Handle = (request: FastifyRequest, actor: string) => Promise<Reply>;
type Work = (request: FastifyRequest, attempt: Attempt) => Promise<unknown>;

/** What every route of the editor does: ask who it is, wait until the data are there, answer in JSON. */
export class EditorRouter {
  readonly parts: EditorRouteParts;
  readonly #app: FastifyInstance;
  readonly #replies: KeptReplies;

  constructor(app: FastifyInstance, parts: EditorRouteParts) {
    this.parts = parts;
    this.#app = app;
    this.#replies = new KeptReplies(parts.replies, parts.clock);
  }

  route(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    scope: Scope,
    handle: Handle,
    bodyLimit = MAX_RECORD_SIZE_BYTES,
  ): void {
    const { parts } = this;
    for (const url of [`/api/editor/${path}`, `/api/editor/${path}/`]) {
      this.#app.route({
        method,
        url,
        bodyLimit,
        handler: async (request, reply) => {
          const { name } = parts.access.require(request, scope);
          await parts.ready();
          return this.send(request, reply, await handle(request, name));
        },
      });
    }
  }

  /** A change that is done once, however often a client sends it with the same `Idempotency-Key`. */
  post(
    path: string,
    scope: Scope,
    work: Work,
    more: {
      readonly bodyLimit?: number;
      readonly headersOf?: (request: FastifyRequest, body: unknown) => Record<string, string>;
    } = {},
  ): void {
    const handle: Handle = async (request, actor) => {
      const body = await this.#replies.run(request, actor, (attempt) => work(request, attempt));
      return { body, headers: more.headersOf?.(request, body) ?? {} };
    };
    this.route('POST', path, scope, handle, more.bodyLimit);
  }

  send(request: FastifyRequest, reply: FastifyReply, { body, headers }: Reply): FastifyReply {
    return reply
      .headers({ ...this.parts.headersFor(request), 'content-type': JSON_TYPE, ...headers })
      .send(Buffer.from(JSON.stringify(body)));
  }
}
