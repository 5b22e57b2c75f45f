import {
  type ApiConventions,
  type Clock,
  checkedRoute,
  type DownloadRequest,
  type HttpResponse,
  type HttpService,
  jsonResponse,
  OpenApi,
  operatorFailure,
  pathOf,
  type Random,
  withHeaders,
} from '@plinth/kernel';
import { Type } from 'typebox';

const PATH = '/ops/v1/downloads';
const LIFETIME_MS = 60_000;
const MAX_TICKET_COUNT = 1000;
const ID_SIZE_BYTES = 32;
/** Only queries, which change nothing: programs follow links, too. */
const QUERY_PATH = /^\/api\/v3\/query_(?:sql|influxql)$/;

const Wanted = Type.Object({
  method: Type.Union([Type.Literal('GET'), Type.Literal('POST')]),
  path: Type.String({
    pattern: '^/',
    maxLength: 1_000_000,
    description: '/api/v3/query_sql or /api/v3/query_influxql, with query parameters',
  }),
  body: Type.Optional(Type.Unknown({ description: 'sent as JSON' })),
  filename: Type.String({ minLength: 1, maxLength: 200 }),
});

interface Ticket extends DownloadRequest {
  readonly untilMs: number;
}

/**
 * Single-use URLs: a browser can save a result of any size without a token in the link. The request for the URL runs
 * through the request pipeline with the credential of the client that created the URL.
 */
export function createDownloads(deps: {
  readonly conventions: ApiConventions;
  readonly clock: Clock;
  readonly random: Random;
}): HttpService {
  const { conventions, clock, random } = deps;
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
  return {
    name: 'downloads',
    routeGroups: () => [
      {
        conventions,
        api: 'operator',
        routes: [
          checkedRoute({
            method: 'POST',
            path: PATH,
            access: 'admin',
            body: { maxBytes: 1_048_576 },
            about: {
              summary: 'Create a download URL that works once, within one minute',
            },
            input: { body: Wanted },
            output: {
              201: OpenApi.response('the URL', OpenApi.json(Type.Object({ url: Type.String() }))),
            },
            errors: { 422: 'invalid field, or the path is not a query endpoint' },
            handle(request, { body: wanted }) {
              const { method, path, body, filename } = wanted;
              if (!QUERY_PATH.test(pathOf(path))) {
                const message =
                  'only results of /api/v3/query_sql and /api/v3/query_influxql can be downloaded';
                return operatorFailure(request, 422, message);
              }
              forgetOld();
              const id = Buffer.from(random.bytes(ID_SIZE_BYTES)).toString('base64url');
              const { authorization } = request.headers;
              tickets.set(id, {
                ...{ method, url: path },
                headers: { authorization, 'content-type': 'application/json' },
                body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
                untilMs: clock.monotonicMs() + LIFETIME_MS,
                adaptResponse: (response) => asFile(response, filename),
              });
              return jsonResponse(201, { url: `${PATH}/${id}` });
            },
          }),
          {
            method: 'GET',
            path: `${PATH}/:id`,
            access: 'public',
            hasHead: false,
            about: { summary: 'Download the result once; the URL is the credential' },
            output: { 200: OpenApi.response('the file', { 'application/octet-stream': {} }) },
            errors: { 404: 'already used, or expired' },
            downloadOf: ({ id = '' }) => take(id),
            handle: (request) =>
              operatorFailure(
                request,
                404,
                `download URL not found; a URL works only once and expires after ${LIFETIME_MS / 1000} s; create a new one with POST ${PATH}`,
              ),
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

const asFile = (response: HttpResponse, filename: string): HttpResponse =>
  response.status === 200
    ? withHeaders(response, [
        ['content-disposition', dispositionOf(filename)],
        ['cache-control', 'no-store'],
        ['referrer-policy', 'no-referrer'],
      ])
    : response;

/** Source: RFC 6266, section 4, and RFC 8187. */
function dispositionOf(filename: string): string {
  const plain = filename.replace(/[^\w.-]/g, '_');
  const encoded = encodeURIComponent(filename.replace(/\p{Cs}/gu, '_')).replace(/['()*]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
