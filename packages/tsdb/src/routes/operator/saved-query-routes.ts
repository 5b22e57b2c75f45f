import {
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  OpenApi,
  operatorFailure,
  operatorRoute,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type {
  SavedQueries,
  SavedQuery,
  SavedQueryContent,
} from '../../domain/saved-queries/saved-queries.js';

const PATH = '/tsdb/saved-queries';
const MAX_TEXT_LENGTH = 65_536;
const MAX_VIEW_LENGTH = 16_384;
const MAX_BODY_BYTES = 512 * 1024;
/** PostgreSQL text columns do not accept NUL. */
const plain = (maxLength: number, more: object = {}) =>
  Type.String({ maxLength, pattern: '^[^\\u0000]*$', ...more });
const maybe = Type.Optional;
const { response, json, nullable } = OpenApi;

const Content = Type.Object({
  name: plain(200, { minLength: 1 }),
  description: maybe(plain(2000)),
  folder: maybe(plain(200)),
  tags: maybe(Type.Array(plain(100), { maxItems: 20 })),
  db: plain(255),
  lang: Type.Union([Type.Literal('sql'), Type.Literal('influxql')]),
  text: plain(MAX_TEXT_LENGTH),
  view: maybe(
    Type.Record(Type.String(), Type.Unknown(), { description: 'chart options, stored unchanged' }),
  ),
});
const Saved = Type.Object({
  id: Type.String({ description: '8 letters and digits' }),
  ...Content.properties,
  rev: Type.Integer(),
  created_by: nullable(Type.String()),
  updated_at: Type.String({ format: 'date-time' }),
});
const IF_MATCH = {
  headers: Type.Object({
    'if-match': maybe(
      Type.String({ description: 'revision that the change is based on, in quotes' }),
    ),
  }),
};

/** Routes for saved queries. Their short ids fit into links. */
export const savedQueryRoutes = (saved: SavedQueries): readonly Route[] => [
  operatorRoute('GET', PATH, {
    about: { summary: 'List saved queries by folder and name' },
    output: { 200: response('all', json(Type.Object({ saved_queries: Type.Array(Saved) }))) },
    handle: async () => jsonResponse(200, { saved_queries: await saved.list() }),
  }),
  operatorRoute('POST', PATH, {
    maxBytes: MAX_BODY_BYTES,
    about: { summary: 'Save a query' },
    input: { body: Content },
    output: { 201: response('the query with its id', json(Saved)) },
    errors: {
      409: 'the limit of 10,000 queries or 16 MiB has been reached',
      422: 'a field is missing or too long',
    },
    async handle(request, { body }) {
      const { principal } = request;
      const by = principal.kind === 'admin' ? principal.tokenName : null;
      if (isViewTooLong(body)) return operatorFailure(request, 422, VIEW_TOO_LONG);
      const made = await saved.create(contentOf(body), by);
      return made === undefined ? operatorFailure(request, 409, FULL) : savedResponse(201, made);
    },
  }),
  operatorRoute('GET', `${PATH}/:id`, {
    about: { summary: 'Get a saved query' },
    output: { 200: response('the query', json(Saved)) },
    async handle(request) {
      const found = await saved.find(idOf(request));
      return found === undefined ? noSuch(request) : savedResponse(200, found);
    },
  }),
  operatorRoute('PUT', `${PATH}/:id`, {
    maxBytes: MAX_BODY_BYTES,
    about: { summary: 'Change a saved query' },
    input: { body: Content, ...IF_MATCH },
    output: { 200: response('the changed query', json(Saved)) },
    errors: {
      409: 'the limit of 16 MiB has been reached',
      412: 'the query was changed since this revision',
      422: 'a field is missing or too long',
    },
    async handle(request, { body }) {
      if (isViewTooLong(body)) return operatorFailure(request, 422, VIEW_TOO_LONG);
      const revs = revisionsOf(request.headers['if-match']);
      const changed = await saved.replace(idOf(request), contentOf(body), revs);
      if (changed === 'not_found') return noSuch(request);
      if (changed === 'full') return operatorFailure(request, 409, FULL);
      if (changed === 'conflict') {
        return operatorFailure(
          request,
          412,
          'the query has been changed since this revision; reload it and try again',
        );
      }
      return savedResponse(200, changed);
    },
  }),
  operatorRoute('DELETE', `${PATH}/:id`, {
    about: { summary: 'Delete a saved query' },
    output: { 204: response('deleted') },
    handle: async (request) =>
      (await saved.delete(idOf(request))) ? emptyResponse(204) : noSuch(request),
  }),
];

/** Returns the revisions in `If-Match`; `undefined` for any. Foreign tags match none. */
function revisionsOf(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').map((tag) => Number(/^\s*"(\d+)"\s*$/.exec(tag)?.[1] ?? -1));
}

const VIEW_TOO_LONG = `view has more than ${MAX_VIEW_LENGTH} characters`;

const isViewTooLong = ({ view = {} }: Partial<SavedQueryContent>): boolean =>
  JSON.stringify(view).length > MAX_VIEW_LENGTH;

const FULL = 'the limit of 10,000 saved queries or 16 MiB has been reached; delete unused queries';

const idOf = ({ parameters }: HttpRequest): string => parameters['id'] ?? '';

const noSuch = (request: HttpRequest): HttpResponse =>
  operatorFailure(request, 404, `saved query not found: ${idOf(request)}`);

const savedResponse = (status: number, query: SavedQuery): HttpResponse =>
  jsonResponse(status, query, [['etag', `"${query.rev}"`]]);

function contentOf(
  body: Pick<SavedQueryContent, 'name' | 'db' | 'lang' | 'text'> & Partial<SavedQueryContent>,
): SavedQueryContent {
  const { name, description = '', folder = '', tags = [], db, lang, text, view = {} } = body;
  return { name, description, folder, tags, db, lang, text, view };
}
