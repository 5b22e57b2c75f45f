import type { Clock } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DataSet } from '../domain/data-set.js';
import { defaultOrderOf } from '../domain/default-order.js';
import type { Attempt } from '../domain/edit/draft.js';
import type { Editor, Precondition } from '../domain/edit/editor.js';
import type { Exchange } from '../domain/exchange/exchange.js';
import type { Library, Published } from '../domain/library.js';
import { Presenter } from '../domain/public-record.js';
import { Parameters } from '../domain/query/parameters.js';
import { Slices } from '../domain/slices.js';
import { ParameterInvalid, RecordNotFound, ValidationFailed } from '../errors.js';
import { HISTORY_OPS, type HistoryEntry, NO_VERSION } from '../model/edition.js';
import { diffJson } from '../model/json-patch.js';
import { findKind, KIND_WIRE, KINDS, type Kind } from '../model/kinds.js';
import type { EditorAccess, Scope } from './editor-access.js';
import {
  acceptJsonBytes,
  MAX_RECORD_SIZE_BYTES,
  readObject,
  readOptionalObject,
  unpackedBytesOf,
} from './editor-body.js';
import { KeptReplies, type ReplyStore } from './kept-replies.js';
import { JSON_TYPE } from './public-headers.js';
import { describeVersion } from './public-pages.js';

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

const MAX_PAGE = 5000;
const MAX_MESSAGE_LENGTH = 1000;

interface Reply {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
type Handle = (request: FastifyRequest, actor: string) => Promise<Reply>;

/** Source: gamedata, section 6. */
export function registerEditorRoutes(app: FastifyInstance, parts: EditorRouteParts): void {
  acceptJsonBytes(app);
  const replies = new KeptReplies(parts.replies, parts.clock);
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    scope: Scope,
    handle: Handle,
    bodyLimit = MAX_RECORD_SIZE_BYTES,
  ): void => {
    for (const url of [`/api/editor/${path}`, `/api/editor/${path}/`]) {
      app.route({
        method,
        url,
        bodyLimit,
        handler: async (request, reply) => {
          const { name } = parts.access.require(request, scope);
          await parts.ready();
          return send(request, reply, parts, await handle(request, name));
        },
      });
    }
  };
  app.get('/api/editor/types', async (request, reply) => {
    await parts.ready();
    return send(request, reply, parts, { body: await typesOf(request, parts) });
  });
  const post = (path: string, scope: Scope, work: Work): void =>
    route('POST', path, scope, async (request, actor) => {
      const body = await replies.run(request, actor, (attempt) => work(request, attempt));
      return { body, headers: headersOfCreated(request, body) };
    });
  type Work = (request: FastifyRequest, attempt: Attempt) => Promise<unknown>;

  for (const path of ['save', 'save/:type']) {
    post(path, 'publish', async (request, attempt) => {
      const kinds = kindsOf(request);
      const { message } = readOptionalObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
      const describe = (published: Published) => saved(published);
      return describe(
        await parts.editor().publishing.save(attempt, kinds, messageOf(message), describe),
      );
    });
  }
  for (const path of ['discard', 'discard/:type']) {
    post(path, 'write', async (request, attempt) => {
      const discarded = await parts.editor().publishing.discard(attempt, kindsOf(request));
      return { success: true, discarded };
    });
  }
  for (const path of ['validate', 'validate/:type']) {
    route('GET', path, 'read', async (request) => {
      const errors = await parts.editor().publishing.validate(kindsOf(request));
      return { body: { valid: errors.length === 0, errors, warnings: [] } };
    });
  }
  route('GET', 'history', 'read', async (request) => ({ body: await historyPage(request, parts) }));
  post('undo', 'write', async (request, attempt) => {
    const entry = await parts.editor().undoing.undo(attempt, await seqOf(request));
    return { success: true, entry: describeEntry(entry) };
  });
  post('redo', 'write', async (request, attempt) => {
    const entry = await parts.editor().undoing.redo(attempt, await seqOf(request));
    return { success: true, entry: describeEntry(entry) };
  });
  route('GET', 'versions', 'read', async () => {
    const versions = parts.library.versions.map(({ version }) => version).reverse();
    const described = versions.map((number) => describeVersion(parts.library, number));
    return { body: { total: versions.length, count: versions.length, versions: described } };
  });
  post('versions/:n/restore', 'admin', async (request, attempt) => {
    const text = parameterOf(request, 'n');
    if (!/^[1-9]\d{0,9}$/.test(text)) {
      throw new ParameterInvalid({ param: 'n', message: 'a version is a whole number from 1 on' });
    }
    const describe = ({ version }: Published) => ({ success: true, version: version.version });
    return describe(await parts.editor().publishing.restore(attempt, Number(text), describe));
  });
  route(
    'POST',
    'import',
    'admin',
    async (request, actor) => ({
      body: await replies.run(request, actor, async (attempt) => {
        const bytes = await unpackedBytesOf(request, parts.maxImportBytes);
        return await parts.exchange().import(attempt, bytes, importOptions(request));
      }),
    }),
    parts.maxImportBytes,
  );
  app.get('/api/editor/export', async (request, reply) => {
    parts.access.require(request, 'read');
    await parts.ready();
    return await sendExport(request, reply, parts);
  });
  registerRecordRoutes({ route, post, parts });
}

function registerRecordRoutes(at: {
  readonly route: (
    method: 'GET' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    scope: Scope,
    handle: Handle,
  ) => void;
  readonly post: (
    path: string,
    scope: Scope,
    work: (request: FastifyRequest, attempt: Attempt) => Promise<unknown>,
  ) => void;
  readonly parts: EditorRouteParts;
}): void {
  const { route, post, parts } = at;
  route('GET', ':type', 'read', async (request) => ({ body: await typePage(request, parts) }));
  route('GET', ':type/:id', 'read', async (request) => {
    const isPublished = parametersOf(request).flag('published') ?? false;
    const set = isPublished ? parts.library.current.set : parts.editor().draft;
    const found = parts.editor().read(kindOf(request), idOf(request, set), isPublished);
    return { body: found.data, headers: { etag: `"r${found.rev}"` } };
  });
  post(':type', 'write', async (request, attempt) => {
    const kind = kindOf(request);
    const generateId = parametersOf(request).flag('generateId') ?? false;
    const body = readObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
    const { data, rev } = await parts.editor().create(attempt, kind, body, { generateId });
    return Object.defineProperty({ success: true, data }, 'rev', { value: rev, enumerable: false });
  });
  route('PUT', ':type/:id', 'write', async (request, actor) => {
    const body = readObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
    const { data, rev } = await parts
      .editor()
      .replace({ actor }, targetOf(request, parts.editor().draft), body);
    return { body: { success: true, data }, headers: { etag: `"r${rev}"` } };
  });
  route('PATCH', ':type/:id', 'write', async (request, actor) => {
    const patch = readObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
    const { data, rev } = await parts
      .editor()
      .patch({ actor }, targetOf(request, parts.editor().draft), patch);
    return { body: { success: true, data }, headers: { etag: `"r${rev}"` } };
  });
  route('DELETE', ':type/:id', 'write', async (request, actor) => {
    const parameters = parametersOf(request);
    const force = parameters.flag('force') ?? false;
    const replacedBy = parameters.word('replacedBy');
    await parts
      .editor()
      .delete({ actor }, targetOf(request, parts.editor().draft), { force, replacedBy });
    return { body: { success: true } };
  });
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: EditorRouteParts,
  { body, headers }: Reply,
): FastifyReply {
  return reply
    .headers({ ...parts.headersFor(request), 'content-type': JSON_TYPE, ...headers })
    .send(Buffer.from(JSON.stringify(body)));
}

/** A new record's address and state. */
function headersOfCreated(request: FastifyRequest, body: unknown): Record<string, string> {
  const id: unknown = Reflect.get(Object(Reflect.get(Object(body), 'data')), 'id');
  if (typeof id !== 'string') return {};
  const type = KIND_WIRE[kindOf(request)].typeKey;
  const rev: unknown = Reflect.get(Object(body), 'rev');
  return {
    location: `/api/editor/${type}/${id}`,
    ...(typeof rev === 'number' && { etag: `"r${rev}"` }),
  };
}

function parametersOf(request: FastifyRequest): Parameters {
  const mark = request.url.indexOf('?');
  return new Parameters(mark === -1 ? '' : request.url.slice(mark + 1));
}

function parameterOf(request: FastifyRequest, name: string): string {
  const value: unknown = Reflect.get(Object(request.params), name);
  return typeof value === 'string' ? value : '';
}

function kindOf(request: FastifyRequest): Kind {
  const kind = findKind(parameterOf(request, 'type'));
  if (kind === undefined) throw new RecordNotFound('Unknown type');
  return kind;
}

/** The kind of the path, or all. The real system answers 400 for a type it does not know when saving. */
function kindsOf(request: FastifyRequest): readonly Kind[] {
  const name = parameterOf(request, 'type');
  if (name === '') return KINDS;
  const kind = findKind(name);
  if (kind !== undefined) return [kind];
  throw new ParameterInvalid({ param: 'type', message: 'Invalid type' });
}

const isKeyedBySlug = (kind: Kind): boolean => kind === 'traders' || kind === 'maps';

/** Where lists have the slug as their key, that key names the record, too. */
function idOf(request: FastifyRequest, set: DataSet): string {
  const kind = kindOf(request);
  const key = parameterOf(request, 'id');
  if (!isKeyedBySlug(kind) || set.row(kind, key) !== undefined) return key;
  return set.tables[kind].bySlug(key)?.id ?? key;
}

function targetOf(
  request: FastifyRequest,
  set: DataSet,
): { readonly kind: Kind; readonly id: string } & Precondition {
  const header = request.headers['if-match'];
  const ifMatch =
    header === undefined
      ? undefined
      : header.trim() === '*'
        ? '*'
        : // A tag that is none of ours names no state.
          header.split(',').map((tag) => Number(/^\s*"r(\d+)"\s*$/.exec(tag)?.[1] ?? -1));
  return { kind: kindOf(request), id: idOf(request, set), ifMatch };
}

function saved({ version, changed }: Published): unknown {
  return { success: true, message: 'Data saved to file', version: version.version, changed };
}

function messageOf(message: unknown): string {
  if (message === undefined) return '';
  if (typeof message === 'string' && message.length <= MAX_MESSAGE_LENGTH) return message;
  const text = `message must be text of at most ${MAX_MESSAGE_LENGTH} characters`;
  throw new ValidationFailed(text, [{ path: '/message', code: 'type', message: text }]);
}

async function seqOf(request: FastifyRequest): Promise<number | undefined> {
  const { seq } = readOptionalObject(await unpackedBytesOf(request, MAX_RECORD_SIZE_BYTES));
  if (seq === undefined) return undefined;
  if (typeof seq === 'number' && Number.isSafeInteger(seq) && seq > 0) return seq;
  const message = 'seq must be the number of a change';
  throw new ValidationFailed(message, [{ path: '/seq', code: 'type', message }]);
}

async function typesOf(request: FastifyRequest, parts: EditorRouteParts): Promise<unknown> {
  const published = parts.library.current.set.counts();
  const editor = parts.editor();
  const isEditor = parts.access.actorOf(request) !== undefined;
  const drafts = isEditor ? editor.draft.counts() : undefined;
  const changed = isEditor ? await editor.publishing.changedCounts() : undefined;
  return {
    types: KINDS.map((kind) => ({
      key: KIND_WIRE[kind].typeKey,
      count: published[kind],
      ...(drafts && changed && { draft: drafts[kind], changed: changed[kind] }),
    })),
  };
}

async function typePage(request: FastifyRequest, parts: EditorRouteParts): Promise<unknown> {
  const kind = kindOf(request);
  const parameters = parametersOf(request);
  const limit = parameters.integer('limit', { min: 0, max: MAX_PAGE });
  const offset = parameters.integer('offset', { min: 0, max: 2_147_483_647 });
  const set = parts.editor().draft;
  const order = defaultOrderOf(set, kind);
  const isPage = limit !== undefined || offset !== undefined;
  const from = offset ?? 0;
  const shown = isPage ? order.slice(from, from + (limit ?? 100)) : order;
  const presenter = new Presenter(set, 'all');
  const slices = new Slices();
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
  const url = (to: number): string => `${request.url.split('?', 1)[0]}?limit=${size}&offset=${to}`;
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

async function historyPage(request: FastifyRequest, parts: EditorRouteParts): Promise<unknown> {
  const parameters = parametersOf(request);
  const limit = parameters.integer('limit', { min: 0, max: 1000 }) ?? 100;
  const offset = parameters.integer('offset', { min: 0, max: 2_147_483_647 }) ?? 0;
  const type = parameters.word('type');
  const kind = type === undefined ? undefined : findKind(type);
  if (type !== undefined && kind === undefined) {
    throw new ParameterInvalid({ param: 'type', message: `type: ${type} is none` });
  }
  const id = parameters.word('id');
  const actor = parameters.word('actor');
  const op = parameters.choice('op', HISTORY_OPS);
  const found = await parts.editor().history({ kind, id, actor, op }, { limit, offset });
  const { total, entries } = found;
  return { total, count: entries.length, offset, limit, entries: entries.map(describeEntry) };
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
          : diffJson(from, to);
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

function importOptions(request: FastifyRequest) {
  const parameters = parametersOf(request);
  return {
    format: parameters.choice('format', ['native', 'tarkovdata']) ?? 'native',
    mode: parameters.choice('mode', ['replace', 'merge']) ?? 'merge',
    dryRun: parameters.flag('dryRun') ?? false,
    publish: parameters.flag('publish') ?? false,
    strict: parameters.flag('strict') ?? false,
    overlay: parameters.flag('overlay') ?? false,
  };
}

async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: EditorRouteParts,
): Promise<FastifyReply> {
  const parameters = parametersOf(request);
  const format = parameters.choice('format', ['native', 'tarkovdata']) ?? 'native';
  const isDraft = parameters.flag('drafts') ?? false;
  const version = parameters.integer('version', { min: 1, max: 2_147_483_647 });
  const edition = await parts.library.edition(version);
  const set = isDraft ? parts.editor().draft : edition.set;
  const { Readable } = await import('node:stream');
  const text = parts.exchange().export(set, format);
  return reply
    .headers({ ...parts.headersFor(request), 'content-type': JSON_TYPE })
    .send(Readable.from(text));
}
