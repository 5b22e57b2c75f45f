import {
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  piecesResponse,
  type Route,
  type RouteDocs,
} from '@plinth/kernel';
import { MAX_OFFSET } from '../../domain/query/parameters.js';
import { JSON_TYPE, NOT_STORED } from '../content-headers.js';
import { flag, integer, OBJECT, text } from '../openapi/route-docs.js';
import { importBody } from './editor-body.js';
import { parametersOf } from './editor-requests.js';
import type { EditorRouteDeps, EditorRouter } from './editor-router.js';

const LAYOUTS = { enum: ['native', 'tarkovdata'] };
const IMPORT: RouteDocs = {
  operationId: 'importData',
  summary: 'Import a data set',
  query: {
    format: text('format of the body', LAYOUTS),
    mode: text('merge by id, or replace all records', { enum: ['merge', 'replace'] }),
    dryRun: flag('validate and report without storing'),
    publish: flag('publish immediately'),
    strict: flag('reject the import on any warning'),
    overlay: flag('apply manual edits again on top'),
  },
  body: OBJECT,
};
const EXPORT: RouteDocs = {
  operationId: 'exportData',
  summary: 'Export the complete data set',
  query: {
    format: text('format of the response', LAYOUTS),
    drafts: flag('include unpublished changes'),
    version: integer(1, MAX_OFFSET, 'an older version'),
  },
};

/** Returns the routes that import and export complete data sets. */
export function exchangeRoutes(router: EditorRouter): readonly Route[] {
  const { deps } = router;
  return [
    ...router.post(
      'import',
      'admin',
      IMPORT,
      async (request, attempt) => {
        const { buffer, byteOffset, byteLength } = request.body;
        const bytes = Buffer.from(buffer, byteOffset, byteLength);
        return await deps.importExport.import(attempt, bytes, importOptions(request));
      },
      { body: importBody(deps.maxImportBytes) },
    ),
    ...router.answering({ method: 'GET', path: 'export', scope: 'read', docs: EXPORT }, (request) =>
      exportResponse(request, deps),
    ),
  ];
}

function importOptions(request: HttpRequest) {
  const parameters = parametersOf(request);
  return {
    format: parameters.choice('format', ['native', 'tarkovdata']) ?? 'native',
    mode: parameters.choice('mode', ['replace', 'merge']) ?? 'merge',
    dryRun: parameters.flag('dryRun') ?? false,
    publish: parameters.flag('publish') ?? false,
    strict: parameters.flag('strict') ?? false,
    overlay: parameters.flag('overlay') ?? false,
    signal: request.disconnectSignal(),
  };
}

async function exportResponse(request: HttpRequest, parts: EditorRouteDeps): Promise<HttpResponse> {
  const parameters = parametersOf(request);
  const format = parameters.choice('format', ['native', 'tarkovdata']) ?? 'native';
  const isDraft = parameters.flag('drafts') ?? false;
  const version = parameters.integer('version', { min: 1 });
  // An empty export could be mistaken for a backup.
  if (version === undefined) parts.library.assertReadable();
  const edition = await parts.library.edition(version);
  const set = isDraft ? parts.editor.draft : edition.set;
  const headers: HeaderList = [...NOT_STORED, ['content-type', JSON_TYPE]];
  return await piecesResponse(200, headers, bytesOf(parts.importExport.export(set, format)));
}

async function* bytesOf(text: AsyncIterable<string>): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of text) yield Buffer.from(piece);
}
