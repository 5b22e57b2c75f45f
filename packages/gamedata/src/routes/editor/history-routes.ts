import { type HttpRequest, pathOf, queryOf, type Route, type RouteDocs } from '@plinth/kernel';
import { Type } from 'typebox';
import { TimeSlices } from '../../domain/data/time-slices.js';
import { MAX_OFFSET } from '../../domain/query/parameters.js';
import { gameDataError } from '../../errors.js';
import { HISTORY_OPS, type HistoryEntry, NO_VERSION } from '../../model/edition.js';
import { diffJson, type PatchOperation } from '../../model/json-patch.js';
import { findKind, KIND_WIRE, KINDS } from '../../model/kinds.js';
import { integer, text } from '../openapi/route-docs.js';
import { readOptionalObject } from './editor-body.js';
import { parametersOf } from './editor-requests.js';
import type { EditorRouteDeps, EditorRouter } from './editor-router.js';

const MAX_ENTRIES = 1000;

const HISTORY: RouteDocs = {
  operationId: 'listHistory',
  summary: 'List changes with their actors',
  query: {
    type: text('only this type'),
    id: text('only this id'),
    actor: text('only this actor'),
    op: text('only this operation', { enum: HISTORY_OPS }),
    limit: integer(0, MAX_ENTRIES, 'page size; large entries reduce it, and `next` continues'),
    offset: integer(0, MAX_OFFSET, 'entries to skip'),
  },
};
const ONE_CHANGE = {
  body: Type.Object({
    seq: Type.Optional(
      Type.Integer({ minimum: 1, description: 'number of the change; default: the last one' }),
    ),
  }),
  isBodyOptional: true,
};
const UNDO: RouteDocs = {
  operationId: 'undo',
  summary: 'Undo one of your own changes',
  ...ONE_CHANGE,
};
const REDO: RouteDocs = { operationId: 'redo', summary: 'Redo an undone change', ...ONE_CHANGE };

/** Returns the routes for the change history, undo and redo. */
export function historyRoutes(router: EditorRouter): readonly Route[] {
  const { deps } = router;
  return [
    ...router.route('GET', 'history', 'read', HISTORY, async (request) => ({
      body: await historyPage(request, deps),
    })),
    ...router.post('undo', 'write', UNDO, async (request, attempt) => {
      const entry = await deps.editor.undoing.undo(attempt, seqOf(request));
      return { success: true, entry: describeEntry(entry) };
    }),
    ...router.post('redo', 'write', REDO, async (request, attempt) => {
      const entry = await deps.editor.undoing.redo(attempt, seqOf(request));
      return { success: true, entry: describeEntry(entry) };
    }),
  ];
}

function seqOf(request: HttpRequest): number | undefined {
  const { seq } = readOptionalObject(request.body);
  if (seq === undefined) return undefined;
  if (typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0) return seq;
  const message = 'seq must be the number of a change';
  throw gameDataError('validation_failed', {
    message,
    details: [{ path: '/seq', code: 'type', message }],
  });
}

async function historyPage(request: HttpRequest, parts: EditorRouteDeps): Promise<unknown> {
  const parameters = parametersOf(request);
  const { limit = 100, offset = 0 } = parameters.page(MAX_ENTRIES);
  const type = parameters.nonEmptyText('type');
  const kind = type === undefined ? undefined : findKind(type);
  if (type !== undefined && kind === undefined) {
    throw gameDataError('invalid_parameter', {
      param: 'type',
      message: `unknown type "${type}"; use ${KINDS.map((each) => KIND_WIRE[each].typeKey).join(', ')}`,
    });
  }
  const id = parameters.nonEmptyText('id');
  const actor = parameters.nonEmptyText('actor');
  const op = parameters.choice('op', HISTORY_OPS);
  const found = await parts.editor.history({ kind, id, actor, op }, { limit, offset });
  const { total, entries } = found;
  const described: unknown[] = [];
  const slices = new TimeSlices();
  for (const entry of entries) {
    described.push(describeEntry(entry));
    const pause = slices.check();
    if (pause !== undefined) await pause;
  }
  const url = (to: number): string => {
    const query = new URLSearchParams(queryOf(request.url));
    query.set('offset', String(to));
    return `${pathOf(request.url)}?${query}`;
  };
  const end = offset + entries.length;
  const next = entries.length > 0 && end < total ? url(end) : null;
  return { total, count: entries.length, offset, limit, next, entries: described };
}

/** With many small differences, a patch with paths may be many times as long as the value. */
function patchOf(from: unknown, to: unknown, after: string): readonly PatchOperation[] {
  const patch = diffJson(from, to);
  if (JSON.stringify(patch).length <= after.length) return patch;
  return [{ op: 'replace', path: '', value: to }];
}

function describeEntry(entry: HistoryEntry): unknown {
  const { seq, atMs, actor, op, kind, id, before, after, version } = entry;
  const from: unknown = before === null ? undefined : JSON.parse(before);
  const to: unknown = after === null ? undefined : JSON.parse(after);
  const patch =
    from === undefined && to === undefined
      ? []
      : from === undefined
        ? [{ op: 'add', path: '', value: to }]
        : to === undefined
          ? [{ op: 'remove', path: '' }]
          : patchOf(from, to, after ?? '');
  return {
    seq,
    at: new Date(atMs).toISOString(),
    actor,
    op,
    type: kind === null ? null : KIND_WIRE[kind].typeKey,
    id,
    rev: seq,
    patch,
    ...(version === NO_VERSION ? { discarded: true } : version !== null && { version }),
  };
}
