import { createHash } from 'node:crypto';
import {
  AppJwtRefused,
  asOutage,
  type Clock,
  type FieldError,
  type Logger,
  platformFailure,
  type Random,
  StoreOutage,
  ValidationFailed,
} from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebhooksConfig } from '../config.js';
import { ApiVersionUnsupported, MediaTypeUnacceptable, UserAgentMissing } from '../errors.js';
import { isWebhookError, statusOf } from './to-wire.js';

const DEFAULT_VERSION = '2022-11-28';
export const API_VERSIONS = ['2022-11-28', '2026-03-10'];

const EXPOSED = [
  'ETag',
  'Link',
  'Location',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Used',
  'X-RateLimit-Resource',
  'X-RateLimit-Reset',
];

/** What tells one operation's documentation from another's. */
const ANCHORS: readonly (readonly [method: string, path: RegExp, anchor: string])[] = [
  ['GET', /\/app\/hook\/config$/, 'get-a-webhook-configuration-for-an-app'],
  ['PATCH', /\/app\/hook\/config$/, 'update-a-webhook-configuration-for-an-app'],
  ['GET', /\/app\/hook\/deliveries$/, 'list-deliveries-for-an-app-webhook'],
  ['GET', /\/app\/hook\/deliveries\/[^/]+$/, 'get-a-delivery-for-an-app-webhook'],
  ['POST', /\/app\/hook\/deliveries\/[^/]+\/attempts$/, 'redeliver-a-delivery-for-an-app-webhook'],
];

/** How this API speaks: headers of every answer, bodies, errors. Source: webhooks, section 2. */
export class Dialect {
  readonly #config: WebhooksConfig;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #publicUrl: string | undefined;
  /** Lower case, as in media types. */
  readonly #vendor: string;
  readonly #fixed: Readonly<Record<string, string>>;

  constructor(needs: {
    readonly config: WebhooksConfig;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
    readonly publicUrl: string | undefined;
  }) {
    this.#config = needs.config;
    this.#clock = needs.clock;
    this.#random = needs.random;
    this.#log = needs.log;
    this.#publicUrl = needs.publicUrl;
    const { vendor_name } = needs.config;
    this.#vendor = vendor_name.toLowerCase();
    this.#fixed = {
      [`x-${this.#vendor}-media-type`]: `${this.#vendor}.v3; format=json`,
      vary: 'Accept, Authorization, Accept-Encoding',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': [
        ...EXPOSED,
        `X-${vendor_name}-Media-Type`,
        `X-${vendor_name}-Request-Id`,
        'Deprecation',
        'Sunset',
      ].join(', '),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'deny',
      'referrer-policy': 'origin-when-cross-origin, strict-origin-when-cross-origin',
      'content-security-policy': "default-src 'none'",
    };
  }

  setHeaders(request: FastifyRequest, reply: FastifyReply): void {
    const version = this.#versionOf(request);
    reply.headers(this.#fixed);
    reply.header(
      `x-${this.#vendor}-api-version-selected`,
      API_VERSIONS.includes(version) ? version : DEFAULT_VERSION,
    );
    reply.header(`x-${this.#vendor}-request-id`, this.#makeRequestId());
  }

  /** What has to be right about a request before it is looked at. */
  check(request: FastifyRequest): void {
    const { accept, 'user-agent': agent } = request.headers;
    if (accept !== undefined && !this.#accepts(accept)) throw new MediaTypeUnacceptable(accept);
    const version = this.#versionOf(request);
    if (!API_VERSIONS.includes(version)) throw new ApiVersionUnsupported(version);
    if (this.#config.require_user_agent && (agent === undefined || agent === '')) {
      throw new UserAgentMissing();
    }
  }

  /** An answer in JSON; a GET gets an ETag, and 304 when the client has it. */
  send(request: FastifyRequest, reply: FastifyReply, status: number, body: unknown): FastifyReply {
    const bytes = Buffer.from(JSON.stringify(body));
    const digest = createHash('sha256').update(bytes).digest('hex');
    return this.sendBytes(request, reply, status, { body: bytes, digest });
  }

  /** @param answer JSON text, and its SHA-256 in hex. */
  sendBytes(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    { body, digest }: { readonly body: Buffer; readonly digest: string },
  ): FastifyReply {
    if (status === 200 && (request.method === 'GET' || request.method === 'HEAD')) {
      const etag = `W/"${digest}"`;
      reply.header('etag', etag);
      reply.header(
        'cache-control',
        this.#config.private_cache
          ? 'private, max-age=0, must-revalidate'
          : 'public, max-age=60, s-maxage=60',
      );
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    }
    return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body);
  }

  sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (error instanceof AppJwtRefused) {
      return this.#fail(request, reply, { status: error.status, message: error.message });
    }
    if (error instanceof ValidationFailed) {
      const { message, errors } = error;
      return this.#fail(request, reply, { status: 422, message, errors });
    }
    if (isWebhookError(error)) {
      return this.#fail(request, reply, { status: statusOf(error), message: error.message });
    }
    const status: unknown = Reflect.get(Object(error), 'statusCode');
    if (status === 413) {
      return this.#fail(request, reply, { status, message: 'Request body too large' });
    }
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return this.#fail(request, reply, { status, message: 'Bad Request' });
    }
    const kind: unknown = Reflect.get(Object(error), 'kind');
    if (kind === 'not_authenticated') {
      return this.#fail(request, reply, { status: 401, message: 'Bad credentials' });
    }
    const outage = asOutage(error);
    if (outage !== undefined) {
      this.#log.debug({ err: error }, 'request refused');
      reply.header('retry-after', String(outage.retryAfterSec));
      // Source: webhooks, section 2.2: the words of one status.
      const message = outage instanceof StoreOutage ? 'Service unavailable' : outage.message;
      return this.#fail(request, reply, { status: 503, message });
    }
    this.#log.error({ err: error }, 'request failed');
    return this.#fail(request, reply, { status: 500, message: 'Server Error' });
  }

  sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return this.#fail(request, reply, { status: 404, message: 'Not Found' });
  }

  answerPreflight(reply: FastifyReply): FastifyReply {
    const vendor = this.#config.vendor_name;
    return reply
      .code(204)
      .headers({
        'access-control-allow-headers': `Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, Accept-Encoding, X-${vendor}-OTP, X-${vendor}-Api-Version, X-Requested-With, User-Agent`,
        'access-control-allow-methods': 'GET, POST, PATCH, PUT, DELETE',
        'access-control-max-age': '86400',
      })
      .send();
  }

  /** Scheme and host under which clients see this server. */
  baseUrl(request: FastifyRequest): string {
    return this.#publicUrl ?? `${request.protocol}://${request.host}`;
  }

  #fail(
    request: FastifyRequest,
    reply: FastifyReply,
    at: {
      readonly status: number;
      readonly message: string;
      readonly errors?: readonly FieldError[];
    },
  ): FastifyReply {
    const documentationUrl = this.#documentationUrl(request);
    const body = Buffer.from(JSON.stringify(platformFailure({ ...at, documentationUrl })));
    return reply
      .code(at.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(body);
  }

  #documentationUrl(request: FastifyRequest): string {
    const isGitHub = this.#config.vendor_name === 'GitHub';
    const base =
      this.#config.docs_base ??
      (isGitHub ? 'https://docs.github.com' : `${this.baseUrl(request)}/docs`);
    const path = request.url.split('?', 1)[0] ?? '';
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const anchor = ANCHORS.find(([verb, pattern]) => verb === method && pattern.test(path))?.[2];
    return anchor === undefined ? `${base}/rest` : `${base}/rest/apps/webhooks#${anchor}`;
  }

  #accepts(accept: string): boolean {
    const vendors = `(?:${this.#vendor}|github)`;
    const type = new RegExp(
      `^(?:\\*/\\*|application/\\*|application/json|application/vnd\\.${vendors}(?:\\.[a-z0-9.-]+)?(?:\\+json)?)$`,
      'i',
    );
    return accept.split(',').some((part) => type.test(part.split(';', 1)[0]?.trim() ?? ''));
  }

  #versionOf({ headers }: FastifyRequest): string {
    const value = headers[`x-${this.#vendor}-api-version`] ?? headers['x-github-api-version'];
    return typeof value === 'string' && value !== '' ? value : DEFAULT_VERSION;
  }

  /** Groups of upper-case hex digits; the last is the time in seconds. */
  #makeRequestId(): string {
    const hex = Buffer.from(this.#random.bytes(11)).toString('hex').toUpperCase();
    const seconds = Math.floor(this.#clock.nowMs() / 1000)
      .toString(16)
      .toUpperCase();
    const groups = [hex.slice(0, 4), hex.slice(4, 9), hex.slice(9, 15), hex.slice(15, 21)];
    return [...groups, seconds].join(':');
  }
}

/** Weak comparison, as for any GET. Source: RFC 9110, section 13.1.2. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const bare = etag.replace(/^W\//, '');
  return header.split(',').some((one) => {
    const known = one.trim();
    return known === '*' || known.replace(/^W\//, '') === bare;
  });
}
