import {
  type Clock,
  checkedRoute,
  type Dialect,
  type HttpAnswer,
  type HttpRequest,
  type HttpService,
  jsonAnswer,
  OpenApi,
  type Principal,
  pathOf,
  platformFailureAnswer,
  type Random,
  type RouteAccess,
  withHeaders,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { Router } from '../http/router.js';

const PATH = '/ops/v1/downloads';
const LIFETIME_MS = 60_000;
const MAX_TICKET_COUNT = 1000;
const ID_SIZE_BYTES = 32;
/** Questions, which change nothing: links are followed by programs, too. */
const QUERY_PATH = /^\/api\/v3\/query_(?:sql|influxql)$/;

const Wanted = Type.Object({
  method: Type.Union([Type.Literal('GET'), Type.Literal('POST')]),
  path: Type.String({
    pattern: '^/',
    maxLength: 1_000_000,
    description: '/api/v3/query_sql or /api/v3/query_influxql, with its query',
  }),
  body: Type.Optional(Type.Unknown({ description: 'sent as JSON' })),
  filename: Type.String({ minLength: 1, maxLength: 200 }),
});

interface Ticket {
  readonly authorization: string | undefined;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Buffer;
  readonly filename: string;
  readonly untilMs: number;
}

/**
 * Addresses that work once: how a browser saves an answer of any size without a token in a link. Who has asked for one must
 * still be known when it is used.
 */
export function createDownloads(needs: {
  readonly dialect: Dialect;
  readonly router: Router;
  grants(access: RouteAccess | undefined, principal: Principal | undefined): boolean;
  readonly clock: Clock;
  readonly random: Random;
}): HttpService {
  const { dialect, router, clock, random } = needs;
  const tickets = new Map<string, Ticket>();
  const forgetOld = (): void => {
    for (const [id, { untilMs }] of tickets) {
      if (untilMs > clock.monotonicMs() && tickets.size < MAX_TICKET_COUNT) break;
      tickets.delete(id);
    }
  };
  const take = (id: string): Ticket | undefined => {
    const ticket = tickets.get(id);
    tickets.delete(id);
    return ticket !== undefined && ticket.untilMs > clock.monotonicMs() ? ticket : undefined;
  };
  const answerOf = async (request: HttpRequest, ticket: Ticket): Promise<HttpAnswer> => {
    const { method, path: url, body, authorization } = ticket;
    const found = router.find(method, pathOf(url));
    if (found === undefined) return notFound(request, 'the path has nothing to download');
    const { route, table, readInput } = found.served;
    const headers = { ...(authorization && { authorization }), 'content-type': 'application/json' };
    const { base, ip, socket, httpVersion } = request;
    const head = {
      ...{ method, url, base, headers, ip, socket, httpVersion },
      headerList: () => Object.entries(headers),
      leaving: () => request.leaving(),
    };
    let principal: Principal;
    try {
      principal = await table.dialect.identify(head, route.access);
    } catch (error) {
      return table.dialect.answerError(error, head);
    }
    if (!needs.grants(route.access, principal)) return notFound(request, 'not allowed any more');
    try {
      const inner = { ...head, principal, parameters: found.parameters, body };
      return await route.handle(inner, readInput(inner));
    } catch (error) {
      return table.answerError?.(error, head) ?? table.dialect.answerError(error, head);
    }
  };
  return {
    name: 'downloads',
    tables: () => [
      {
        dialect,
        api: 'operator',
        routes: [
          checkedRoute({
            method: 'POST',
            path: PATH,
            access: 'admin',
            body: { maxBytes: 1_048_576 },
            about: {
              summary:
                'Make an address that works once and for a minute, for a browser to save from',
            },
            input: { body: Wanted },
            output: {
              201: OpenApi.answer('the address', OpenApi.json(Type.Object({ url: Type.String() }))),
            },
            errors: { 422: 'a field is wrong, or the path is no query' },
            handle(request, { body: wanted }) {
              const { method, path, body, filename } = wanted;
              if (!QUERY_PATH.test(pathOf(path))) {
                const message =
                  'only answers of /api/v3/query_sql and /api/v3/query_influxql can be downloaded';
                return failure(request, 422, message);
              }
              forgetOld();
              const id = Buffer.from(random.bytes(ID_SIZE_BYTES)).toString('base64url');
              tickets.set(id, {
                ...{ method, path, filename },
                authorization: request.headers['authorization'],
                body: body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
                untilMs: clock.monotonicMs() + LIFETIME_MS,
              });
              return jsonAnswer(201, { url: `${PATH}/${id}` });
            },
          }),
          {
            method: 'GET',
            path: `${PATH}/:id`,
            access: 'public',
            hasHead: false,
            about: { summary: 'What was asked for, once; the address is the credential' },
            output: { 200: OpenApi.answer('the file', { 'application/octet-stream': {} }) },
            errors: { 404: 'it was used, or is too old' },
            async handle(request) {
              const ticket = take(request.parameters['id'] ?? '');
              if (ticket === undefined) return notFound(request, 'the address works once');
              const answer = await answerOf(request, ticket);
              return answer.status === 200
                ? withHeaders(answer, [
                    ['content-disposition', dispositionOf(ticket.filename)],
                    ['cache-control', 'no-store'],
                    ['referrer-policy', 'no-referrer'],
                  ])
                : answer;
            },
          },
        ],
      },
    ],
    async start() {},
    async close() {
      tickets.clear();
    },
  };
}

const failure = (request: HttpRequest, status: number, message: string): HttpAnswer =>
  platformFailureAnswer({ status, message, documentationUrl: `${request.base}/docs/operator` });

const notFound = (request: HttpRequest, message: string): HttpAnswer =>
  failure(request, 404, message);

/** Source: RFC 6266, section 4, and RFC 8187. */
function dispositionOf(filename: string): string {
  const plain = filename.replace(/[^\w.-]/g, '_');
  const encoded = encodeURIComponent(filename.replace(/\p{Cs}/gu, '_')).replace(/['()*]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
