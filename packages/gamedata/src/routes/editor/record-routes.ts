import { type HttpRequest, OpenApi, pathOf, type Route, type RouteDocs } from '@plinth/kernel';
import type { TSchema } from 'typebox';
import { defaultOrderOf } from '../../domain/data/default-order.js';
import { Presenter } from '../../domain/data/public-record.js';
import { TimeSlices } from '../../domain/data/time-slices.js';
import { MAX_OFFSET } from '../../domain/query/parameters.js';
import { KIND_WIRE, KINDS } from '../../model/kinds.js';
import { SCHEMA_NAMES } from '../openapi/record-schemas.js';
import { flag, integer, OBJECT, text } from '../openapi/route-docs.js';
import { readObject } from './editor-body.js';
import { idOf, isKeyedBySlug, kindOf, parametersOf, targetOf } from './editor-requests.js';
import type { EditorRouteDeps, EditorRouter } from './editor-router.js';

const MAX_PAGE = 5000;

const DRAFT: TSchema = {
  anyOf: KINDS.map((kind) => OpenApi.ref(`${SCHEMA_NAMES[kind]}Draft`)),
};
const LIST: RouteDocs = {
  operationId: 'listDrafts',
  summary: 'List records of the draft, paginated if `limit` is set',
  query: {
    limit: integer(0, MAX_PAGE, 'page size'),
    offset: integer(0, MAX_OFFSET, 'records to skip'),
  },
};
const CREATE: RouteDocs = {
  operationId: 'createRecord',
  summary: 'Create a record',
  query: { generateId: flag('generate an id if the body has none') },
  body: DRAFT,
};
const SHOW: RouteDocs = {
  operationId: 'getDraft',
  summary: 'Get a record of the draft',
  query: { published: flag('return the published record instead') },
};
const headers = { 'If-Match': text('`"r<rev>"`: apply only to this revision') };
const REPLACE: RouteDocs = {
  operationId: 'replaceRecord',
  summary: 'Replace a record',
  headers,
  body: DRAFT,
};
const PATCH: RouteDocs = {
  operationId: 'patchRecord',
  summary: 'Change members (RFC 7396)',
  headers,
  body: OBJECT,
};
const DELETE: RouteDocs = {
  operationId: 'deleteRecord',
  summary: 'Delete a record',
  headers,
  query: {
    force: flag('delete even if other records refer to it'),
    replacedBy: text('id that replaces the deleted one'),
  },
};

/** Returns the routes for records of the draft. Source: gamedata, section 6. */
export function recordRoutes(router: EditorRouter): readonly Route[] {
  const { deps } = router;
  const changed = ({ data, rev }: { readonly data: unknown; readonly rev: number }) => ({
    body: { success: true, data },
    headers: { etag: `"r${rev}"` },
  });
  return [
    ...router.route('GET', ':type', 'read', LIST, async (request) => ({
      body: await typePage(request, deps),
    })),
    ...router.route('GET', ':type/:id', 'read', SHOW, async (request) => {
      const isPublished = parametersOf(request).flag('published') ?? false;
      const set = isPublished ? deps.library.current.set : deps.editor.draft;
      const found = deps.editor.read(kindOf(request), idOf(request, set), isPublished);
      return { body: found.data, headers: { etag: `"r${found.rev}"` } };
    }),
    ...router.post(
      ':type',
      'write',
      CREATE,
      async (request, attempt) => {
        const kind = kindOf(request);
        const generateId = parametersOf(request).flag('generateId') ?? false;
        const body = readObject(request.body);
        const { data, rev } = await deps.editor.create(attempt, kind, body, { generateId });
        return Object.defineProperty({ success: true, data }, 'rev', {
          value: rev,
          enumerable: false,
        });
      },
      { headersOf: headersOfCreated },
    ),
    ...router.route('PUT', ':type/:id', 'write', REPLACE, async (request, actor) => {
      const body = readObject(request.body);
      const target = targetOf(request, deps.editor.draft);
      return changed(await deps.editor.replace({ actor }, target, body));
    }),
    ...router.route('PATCH', ':type/:id', 'write', PATCH, async (request, actor) => {
      const patch = readObject(request.body);
      const target = targetOf(request, deps.editor.draft);
      return changed(await deps.editor.patch({ actor }, target, patch));
    }),
    ...router.route('DELETE', ':type/:id', 'write', DELETE, async (request, actor) => {
      const parameters = parametersOf(request);
      const force = parameters.flag('force') ?? false;
      const replacedBy = parameters.nonEmptyText('replacedBy');
      const target = targetOf(request, deps.editor.draft);
      await deps.editor.delete({ actor }, target, { force, replacedBy });
      return { body: { success: true } };
    }),
  ];
}

/** Returns headers with the location and revision of a new record. */
function headersOfCreated(request: HttpRequest, body: unknown): Record<string, string> {
  const id: unknown = Reflect.get(Object(Reflect.get(Object(body), 'data')), 'id');
  if (typeof id !== 'string') return {};
  const type = KIND_WIRE[kindOf(request)].typeKey;
  const rev: unknown = Reflect.get(Object(body), 'rev');
  return {
    location: `/api/editor/${type}/${id}`,
    ...(typeof rev === 'number' && { etag: `"r${rev}"` }),
  };
}

async function typePage(request: HttpRequest, parts: EditorRouteDeps): Promise<unknown> {
  const kind = kindOf(request);
  const parameters = parametersOf(request);
  const { limit, offset } = parameters.page(MAX_PAGE);
  const set = parts.editor.draft;
  const order = defaultOrderOf(set, kind);
  const isPage = limit !== undefined || offset !== undefined;
  const from = offset ?? 0;
  const shown = isPage ? order.slice(from, from + (limit ?? 100)) : order;
  const presenter = new Presenter(set, 'all');
  const slices = new TimeSlices();
  const records: Record<string, unknown>[] = [];
  for (const position of shown) {
    const row = set.tables[kind].rows[position];
    if (row !== undefined) records.push(presenter.present(kind, row, true));
    const pause = slices.next();
    if (pause !== undefined) await pause;
  }
  if (!isPage) {
    const key = isKeyedBySlug(kind) ? 'slug' : 'id';
    return Object.fromEntries(records.map((record) => [String(record[key]), record]));
  }
  const size = limit ?? 100;
  const url = (to: number): string => `${pathOf(request.url)}?limit=${size}&offset=${to}`;
  return {
    total: order.length,
    count: records.length,
    offset: from,
    limit: size,
    next: size > 0 && from + size < order.length ? url(from + size) : null,
    previous: size > 0 && from > 0 ? url(Math.max(0, from - size)) : null,
    version: parts.library.current.version.version,
    data: records,
  };
}
