import type { Random } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { MutationAnswer } from '../domain/mutations.js';
import { notFound } from '../domain/refusals.js';
import type { RequestContext } from '../domain/request-context.js';
import { AccountsRefused } from '../model/violation.js';
import { readFormOrJson, readJson } from './bodies.js';
import type { AccountsFront } from './front.js';
import { type HeaderSink, headerOf, type Incoming } from './incoming.js';
import { sendBody } from './to-wire.js';

/** What a route's handler gets. */
export interface Call {
  readonly context: RequestContext;
  readonly request: Incoming;
  /** Part of the path, by name. */
  param(name: string): string;
}

interface RouteOptions {
  /** Which keys may call; a publishable key makes tokens only. */
  readonly allows?: 'secret' | 'any';
  /** Makes content, which has limits of its own where the service is limited. Source: rate-limits, section 10. */
  readonly makesContent?: boolean;
}

/** What every change needs beside its own work. */
export interface ChangeNeeds {
  readonly random: Random;
  /** Remembers the key and the parameters of a request whose shape is refused. */
  noteRefused(context: RequestContext, body: unknown): Promise<void>;
}

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** Registers routes with what all of them share: the order of checks, headers of the answer, who may call. */
export class Handlers {
  readonly #app: FastifyInstance;
  readonly #front: AccountsFront;
  readonly #changes: ChangeNeeds;

  constructor(needs: {
    readonly app: FastifyInstance;
    readonly front: AccountsFront;
    readonly changes: ChangeNeeds;
  }) {
    this.#app = needs.app;
    this.#front = needs.front;
    this.#changes = needs.changes;
  }

  get(url: string, handle: (call: Call) => Promise<string>, options: RouteOptions = {}): void {
    this.#route('GET', url, options, async (call, reply) =>
      sendBody(reply, 200, await handle(call)),
    );
  }

  /** POST and DELETE: with an idempotency key, and an answer that may be a repeat. */
  change(
    method: 'POST' | 'DELETE',
    url: string,
    handle: (call: Call) => Promise<MutationAnswer>,
    options: RouteOptions = {},
  ): void {
    this.#route(method, url, options, async (call, reply) =>
      sendBody(reply, 200, await answerChange(call, { handle, sink: reply, ...this.#changes })),
    );
  }

  #route(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    { allows = 'secret', makesContent = false }: RouteOptions,
    handle: (call: Call, reply: FastifyReply) => Promise<FastifyReply>,
  ): void {
    const contexts = new WeakMap<FastifyRequest, RequestContext>();
    this.#app.route({
      method,
      url,
      exposeHeadRoute: false,
      config: { access: 'platform', ...(makesContent && { rateLimit: { content: true } }) },
      // Before the body is read: a request without a right to be here sends none.
      onRequest: async (request) => {
        refuseEmptyParts(request);
        contexts.set(request, this.#front.contextOf(request, allows));
      },
      handler: async (request, reply) => {
        const context = contexts.get(request) ?? this.#front.contextOf(request, allows);
        const params = request.params as Record<string, string>; // every parameter of a path is text
        const param = (name: string): string => {
          const value = params[name] ?? '';
          // No id has it, and PostgreSQL cannot be asked for it.
          if (value.includes('\u0000')) throw notFound(name, value);
          return value;
        };
        return await handle({ context, request, param }, reply);
      },
    });
  }
}

/**
 * What every change has: an idempotency key, which is in refusals, too, and an answer that may be a repeat.
 * @returns the body of the answer.
 */
export async function answerChange(
  call: Call,
  by: {
    readonly handle: (call: Call) => Promise<MutationAnswer>;
    readonly sink: HeaderSink;
  } & ChangeNeeds,
): Promise<string> {
  const idempotencyKey = headerOf(call.request, 'idempotency-key') ?? by.random.uuidV4();
  if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw new AccountsRefused({
      code: 'invalid_idempotency_key',
      message: 'An idempotency key has 1 to 255 printable ASCII characters.',
    });
  }
  by.sink.header('Idempotency-Key', idempotencyKey);
  const context = { ...call.context, idempotencyKey };
  const answer = await by.handle({ ...call, context }).catch(async (error: unknown) => {
    if (isShapeRefused(error)) {
      const body = readAnyBody(call.request);
      if (body !== undefined) await by.noteRefused(context, body);
    }
    throw error;
  });
  if (answer.originalRequestId !== undefined) {
    by.sink.header('Idempotent-Replayed', 'true');
    by.sink.header('Original-Request', answer.originalRequestId);
  }
  return answer.body;
}

const isShapeRefused = (error: unknown): boolean =>
  error instanceof AccountsRefused && error.violation.code === 'invalid_fields';

/** `undefined`: none that could be repeated. */
function readAnyBody(request: Incoming): unknown {
  try {
    return request.url.startsWith('/v1/') ? readFormOrJson(request) : readJson(request);
  } catch (error) {
    if (error instanceof AccountsRefused) return undefined;
    throw error;
  }
}

/** `/v2/core/accounts/` fits the route of one account, with an empty id; it is no path of the service. */
function refuseEmptyParts(request: FastifyRequest): void {
  const parts = Object.values(request.params as Record<string, string>); // every parameter of a path is text
  if (!parts.includes('')) return;
  throw new AccountsRefused({
    code: 'unrecognized_url',
    message: `Unrecognized request URL (${request.method}: ${request.url.slice(0, 500)}).`,
  });
}
