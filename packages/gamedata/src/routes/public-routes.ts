import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BULK_NAMES, type BulkName } from '../domain/bulk-files.js';
import { ParameterInvalid, RecordNotFound, VersionUnknown } from '../errors.js';
import { KINDS, type Kind } from '../model/kinds.js';
import { IMMUTABLE, JSON_TYPE, publicHeaders } from './public-headers.js';
import {
  bulkPage,
  calibersPage,
  categoriesPage,
  changesPage,
  indexPage,
  listPage,
  type Page,
  type PublicParts,
  recordPage,
  schemaPage,
  schemasPage,
  searchPage,
  suggestPage,
  type Target,
  versionPage,
  versionsPage,
} from './public-pages.js';
import { etagOf, type Reply, type ReplyCache } from './reply-cache.js';
import { isFresh, negotiate, sendReply, writeOut } from './send.js';

export interface PublicRouteParts extends PublicParts {
  readonly ownsRoot: boolean;
  readonly cache: ReplyCache;
  /** Resolves when data can be read. */
  readonly ready: () => Promise<void> | undefined;
  readonly cacheControl: string;
  readonly cors: boolean;
  /** Made when first asked for. */
  readonly openApi: () => unknown;
  readonly referencePage: () => string;
}

const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';

type Make = (target: Target, request: FastifyRequest) => Page | Promise<Page>;

/** Nine lists and what goes with them. Source: gamedata, section 2. */
export function registerPublicRoutes(app: FastifyInstance, parts: PublicRouteParts): void {
  const get = (path: string, make: Make): void => {
    const handler = (request: FastifyRequest, reply: FastifyReply) =>
      answer(request, reply, parts, make);
    for (const url of path === '/' ? ['/'] : [path, `${path}/`]) {
      app.route({ method: ['GET', 'HEAD'], url, handler });
    }
  };
  if (parts.ownsRoot) get('/', () => indexPage(parts));
  get('/api', () => indexPage(parts));
  get('/api/ammunition/calibers/list', (target) => calibersPage(parts, target));
  get('/api/items/categories/list', (target) => categoriesPage(parts, target));
  for (const kind of KINDS) {
    get(`/api/${kind}`, (target) => listPage(parts, kind, target));
    const name = kind === 'levels' ? 'level' : 'id';
    get(`/api/${kind}/:${name}`, (target, request) =>
      recordPage(parts, { kind, id: pathParameter(request, name), target }),
    );
  }
  get('/api/search', (target) => searchPage(parts, target));
  get('/api/suggest', (target) => suggestPage(parts, target));
  get('/api/versions', (target) => versionsPage(parts, target));
  get('/api/versions/:n', (_target, request) => versionPage(parts, pathParameter(request, 'n')));
  get('/api/changes', (target) => changesPage(parts, target));
  get('/api/schemas', () => schemasPage(parts));
  get('/api/schemas/:kind', (_target, request) => {
    const page = schemaPage(parts, pathParameter(request, 'kind'));
    if (page === undefined) throw new RecordNotFound('Not found');
    return page;
  });
  get('/api/openapi.json', () => ({
    body: parts.openApi(),
    edition: parts.library.current,
    headers: {},
    isPinned: false,
  }));
  get('/api/bulk', () => bulkPage(parts));
  for (const suffix of ['', '/']) {
    app.route({
      method: ['GET', 'HEAD'],
      url: `/api/bulk/:version/:file${suffix}`,
      handler: (request, reply) => sendBulk(request, reply, parts),
    });
    app.route({
      method: ['GET', 'HEAD'],
      url: `/api/docs${suffix}`,
      handler: (_request, reply) =>
        reply
          .headers({ ...publicHeaders(parts.cors), 'cache-control': 'public, max-age=300' })
          .type('text/html; charset=utf-8')
          .send(parts.referencePage()),
    });
  }
}

/**
 * Makes lists and what searches need in advance, so that the first visitor does not wait; each when `calm` resolves, so that
 * nobody else waits.
 */
export async function warmUp(
  parts: PublicRouteParts,
  calm: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const path of [
    ...KINDS.map((kind: Kind) => `/api/${kind}`),
    '/api/ammunition/calibers/list',
  ]) {
    await calm();
    const target = { path, query: '' };
    const kind = KINDS.find((one) => path === `/api/${one}`);
    const page =
      kind === undefined ? await calibersPage(parts, target) : await listPage(parts, kind, target);
    const reply = parts.cache.byUrl(path) ?? makeReply(page, parts);
    if (page.edition !== parts.library.current) return;
    parts.cache.put(path, path, reply);
    await parts.cache.code(reply, 'gzip', true);
    await parts.cache.code(reply, 'br', true);
  }
  const edition = parts.library.current;
  const isWanted = (): boolean => !signal.aborted && edition === parts.library.current;
  await calm();
  await parts.catalog.warmUp(edition.set, isWanted);
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PublicRouteParts,
  make: Make,
): FastifyReply | Promise<FastifyReply> {
  const { url } = request;
  const known = parts.cache.byUrl(url);
  if (known !== undefined) return sendReply(request, reply, known, parts.cache);
  return answerSlowly(request, reply, parts, make);
}

async function answerSlowly(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PublicRouteParts,
  make: Make,
): Promise<FastifyReply> {
  await parts.ready();
  const { url } = request;
  const target = targetOf(url);
  const key = canonicalKey(target);
  let found = parts.cache.byKey(key);
  if (found === undefined) {
    const page = await make(target, request);
    found = makeReply(page, parts);
    // A version may have come meanwhile: what is old already is sent, but not kept.
    const isCurrent = page.isPinned || page.edition === parts.library.current;
    if (isCurrent) parts.cache.put(key, url, found);
  } else parts.cache.remember(url, found);
  return await sendReply(request, reply, found, parts.cache);
}

function targetOf(url: string): Target {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  // One slash at the end asks for the same reply, links to other pages included.
  return {
    path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path,
    query: mark === -1 ? '' : url.slice(mark + 1),
  };
}

/** The same question in another order of parameters is the same question. */
function canonicalKey({ path, query }: Target): string {
  if (query === '') return path;
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return `${path}?${parameters}`;
}

function makeReply(page: Page, parts: PublicRouteParts): Reply {
  const body = Buffer.from(JSON.stringify(page.body));
  const { version, publishedMs } = page.edition.version;
  return {
    body,
    bodySize: body.length,
    etag: etagOf(body),
    lastModifiedMs: publishedMs,
    coded: {},
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': page.isPinned ? IMMUTABLE : parts.cacheControl,
      vary: 'Accept-Encoding',
      'last-modified': new Date(publishedMs).toUTCString(),
      'x-data-version': String(version),
      ...publicHeaders(parts.cors),
      ...page.headers,
    },
  };
}

function pathParameter(request: FastifyRequest, name: string): string {
  const value: unknown = Reflect.get(Object(request.params), name);
  const text = typeof value === 'string' ? value : '';
  if (!text.includes('\0')) return text;
  throw new ParameterInvalid({ param: name, message: `${name} holds a NUL character` });
}

async function sendBulk(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PublicRouteParts,
): Promise<FastifyReply> {
  await parts.ready();
  const versionText = pathParameter(request, 'version');
  const name = pathParameter(request, 'file');
  if (!(BULK_NAMES as readonly string[]).includes(name)) throw new RecordNotFound('Not found');
  const common = { ...publicHeaders(parts.cors), vary: 'Accept-Encoding' };
  if (versionText === 'latest') {
    const location = `/api/bulk/v${parts.library.current.version.version}/${name}`;
    return reply
      .headers({ ...common, location, 'cache-control': parts.cacheControl })
      .code(302)
      .type(JSON_TYPE)
      .send(JSON.stringify({ location }));
  }
  const number = /^v([1-9]\d{0,9})$/.exec(versionText)?.[1];
  if (number === undefined) throw new VersionUnknown({ version: versionText });
  const [, format] = name.split('.');
  const type = format === 'ndjson' ? NDJSON_TYPE : JSON_TYPE;
  const coding = negotiate(request, type);
  const edition = await parts.library.edition(Number(number));
  const file = await parts.bulk.file(edition, name as BulkName); // it is among the names
  const isPacked = coding === 'gzip' || coding === 'br';
  const etag = Buffer.from(file.sha256, 'hex').toString('base64url').slice(0, 22);
  const headers = {
    ...common,
    'content-type': type,
    'cache-control': IMMUTABLE,
    'x-data-version': number,
    'last-modified': new Date(edition.version.publishedMs).toUTCString(),
    etag: `"${etag}${isPacked ? '-gz' : ''}"`,
  };
  if (isFresh(request, { etag, lastModifiedMs: edition.version.publishedMs })) {
    return writeOut(reply, 304, headers);
  }
  const sized = isPacked
    ? { ...headers, 'content-encoding': 'gzip', 'content-length': file.gzip.length }
    : { ...headers, 'content-length': file.sizeBytes };
  if (request.method === 'HEAD') return writeOut(reply, 200, sized);
  if (isPacked) return writeOut(reply, 200, sized, file.gzip);
  const unpacked = createGunzip();
  unpacked.end(file.gzip);
  return reply.headers(sized).send(unpacked);
}
