import { KIND_WIRE, KINDS } from '../../model/kinds.js';
import { failures, json, OBJECT, type Operation, ok, ref } from './operation.js';
import { inPath, integer, query, text } from './parameters.js';
import { SCHEMA_NAMES } from './record-schemas.js';

export function editorPaths(): Record<string, Operation> {
  const type = inPath('type', KINDS.map((kind) => KIND_WIRE[kind].typeKey).join(', '));
  const id = inPath('id', 'id of the record');
  const draft = {
    required: true,
    content: json({ anyOf: KINDS.map((kind) => ref(`${SCHEMA_NAMES[kind]}Draft`)) }),
  };
  const operation = (operationId: string, summary: string, more: Operation = {}) => ({
    operationId,
    summary,
    tags: ['editor'],
    security: [{ editor: [] }],
    ...more,
    responses: { ...ok(OBJECT), ...failures(...EDITOR_FAILURES) },
  });
  const paging = [
    query('limit', integer(0, 1000), 'entries in the reply'),
    query('offset', integer(0, 2_147_483_647), 'entries to pass over'),
  ];
  return {
    '/api/editor/types': {
      get: { ...operation('listTypes', 'Types and how many records each has'), security: [] },
    },
    '/api/editor/{type}': {
      get: operation('listDrafts', 'All records of the draft', { parameters: [type] }),
      post: operation('createRecord', 'Make a record', {
        parameters: [
          type,
          query(
            'generateId',
            { type: 'boolean' },
            'the server makes the id where the body has none',
          ),
        ],
        requestBody: draft,
      }),
    },
    '/api/editor/{type}/{id}': {
      get: operation('getDraft', 'One record of the draft', {
        parameters: [
          type,
          id,
          query('published', { type: 'boolean' }, 'as it is published instead'),
        ],
      }),
      put: operation('replaceRecord', 'Replace a record', {
        parameters: [type, id],
        requestBody: draft,
      }),
      patch: operation('patchRecord', 'Change members (RFC 7396)', {
        parameters: [type, id],
        requestBody: { required: true, content: json(OBJECT) },
      }),
      delete: operation('deleteRecord', 'Delete a record', {
        parameters: [
          type,
          id,
          query('force', { type: 'boolean' }, 'also when others name it'),
          query('replacedBy', text(), 'where its id leads from then on'),
        ],
      }),
    },
    '/api/editor/save': { post: operation('publish', 'Check and publish the draft') },
    '/api/editor/save/{type}': {
      post: operation('publishType', 'Publish one type', { parameters: [type] }),
    },
    '/api/editor/discard': { post: operation('discard', 'Drop what is not published') },
    '/api/editor/discard/{type}': {
      post: operation('discardType', 'Drop what is not published of one type', {
        parameters: [type],
      }),
    },
    '/api/editor/validate': { get: operation('validate', 'Faults of the draft') },
    '/api/editor/validate/{type}': {
      get: operation('validateType', 'Faults of one type', { parameters: [type] }),
    },
    '/api/editor/history': {
      get: operation('listHistory', 'Who changed what', {
        parameters: [
          ...['type', 'id', 'actor', 'op'].map((name) => query(name, text(), `of this ${name}`)),
          ...paging,
        ],
      }),
    },
    '/api/editor/versions': { get: operation('listEditorVersions', 'Versions, newest first') },
    '/api/editor/undo': { post: operation('undo', 'Take back an own change') },
    '/api/editor/redo': { post: operation('redo', 'Do it again') },
    '/api/editor/versions/{n}/restore': {
      post: operation('restore', 'Publish an older version again', {
        parameters: [inPath('n', 'its number')],
      }),
    },
    '/api/editor/import': {
      post: operation('importData', 'Take in a data set', {
        parameters: [
          query('format', text({ enum: ['native', 'tarkovdata'] }), 'layout of the body'),
          query('mode', text({ enum: ['merge', 'replace'] }), 'by id, or everything'),
          query('dryRun', { type: 'boolean' }, 'only report'),
          query('publish', { type: 'boolean' }, 'publish at once'),
          query('strict', { type: 'boolean' }, 'any warning refuses the whole'),
          query('overlay', { type: 'boolean' }, 'do edits made by hand again on top'),
        ],
        requestBody: { required: true, content: json(OBJECT) },
      }),
    },
    '/api/editor/export': {
      get: operation('exportData', 'Give out the whole data set', {
        parameters: [
          query('format', text({ enum: ['native', 'tarkovdata'] }), 'layout of the answer'),
          query('drafts', { type: 'boolean' }, 'with what is not published yet'),
          query('version', integer(1, 2_147_483_647), 'an older version'),
        ],
      }),
    },
  };
}

const EDITOR_FAILURES = [400, 401, 403, 404, 409, 412, 413, 415, 428] as const;
