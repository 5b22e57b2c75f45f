import { createGunzip } from 'node:zlib';
import {
  type ApiDescription,
  bytesResponse,
  emptyResponse,
  type HttpRequest,
  type HttpResponse,
  pageResponse,
  type Route,
  type RouteDescription,
} from '@plinth/kernel';
import { BULK_NAMES, type BulkName } from '../domain/bulk-files.js';
import { gameDataError } from '../errors.js';
import type { Images } from '../model/images.js';
import { KINDS, type Kind } from '../model/kinds.js';
import { IMMUTABLE, JSON_TYPE } from './content-headers.js';
import { BULK_FILE } from './openapi/data-set-docs.js';
import { pageDocs } from './openapi/route-docs.js';
import { listPage } from './pages/list-page.js';
import { calibersPage } from './pages/record-pages.js';
import {
  findReply,
  makeReply,
  type PublicRead,
  type PublicReadDeps,
  publicReads,
} from './public-reads.js';
import { lastModified } from './publication-date.js';
import { referencePage } from './reference-page.js';
import { isFresh, negotiate, RepeatedResponses, replyResponse } from './reply-responses.js';

export interface PublicRouteDeps extends PublicReadDeps {
  readonly images: Images;
}

const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';

/**
 * Returns the routes of public reads, files and the documentation page. @param describe creates the
 * API description on first use.
 */
export function publicRoutes(
  deps: PublicRouteDeps,
  describe: () => ApiDescription,
): readonly Route[] {
  const repeated = new RepeatedResponses();
  return [
    ...publicReads(deps, describe).flatMap((read) => readRoutes(read, deps, repeated)),
    ...publicGet('/api/bulk/:version/:file', BULK_FILE, (request) => bulkResponse(request, deps)),
    ...publicGet('/api/docs', pageDocs('API documentation page'), () =>
      pageResponse(Buffer.from(referencePage(describe())), [
        ['cache-control', 'public, max-age=300'],
      ]),
    ),
  ];
}

/** Registers the path with and without a trailing slash. */
const publicGet = (
  path: string,
  docs: RouteDescription,
  handle: Route['handle'],
): readonly Route[] =>
  (path === '/' ? [path] : [path, `${path}/`]).map((each) => ({
    method: 'GET',
    path: each,
    access: 'public',
    ...docs,
    isAlias: each !== path,
    handle,
  }));

function readRoutes(
  read: PublicRead,
  deps: PublicReadDeps,
  repeated: RepeatedResponses,
): readonly Route[] {
  const { cache } = deps;
  const name = /:([^/]+)$/.exec(read.path)?.[1];
  return publicGet(read.path, read.docs, (request) => {
    const { url, headers } = request;
    const known = cache.byUrl(url);
    if (known === undefined) {
      const parameter = () => (name === undefined ? '' : (request.parameters[name] ?? ''));
      const signal = request.disconnectSignal();
      return findReply(deps, read, { url, parameter, signal }).then((found) =>
        replyResponse(headers, found, cache),
      );
    }
    const response = replyResponse(headers, known, cache);
    return response instanceof Promise
      ? response.then((made) => repeated.of(made))
      : repeated.of(response);
  });
}

/**
 * Prepares lists and search indexes in advance, so that the first request is fast. Each step waits
 * until `calm` resolves, so that other requests have priority.
 */
export async function warmUp(
  deps: PublicRouteDeps,
  whenIdle: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (const path of [
    ...KINDS.map((kind: Kind) => `/api/${kind}`),
    '/api/ammunition/calibers/list',
  ]) {
    await whenIdle();
    const target = { path, query: '' };
    const kind = KINDS.find((one) => path === `/api/${one}`);
    const page =
      kind === undefined ? await calibersPage(deps, target) : await listPage(deps, kind, target);
    const reply = deps.cache.byUrl(path) ?? makeReply(page, deps);
    if (page.edition !== deps.library.current) return;
    deps.cache.put(path, path, reply);
    await deps.cache.code(reply, 'gzip', true);
    await deps.cache.code(reply, 'br', true);
  }
  const edition = deps.library.current;
  const isWanted = (): boolean => !signal.aborted && edition === deps.library.current;
  await whenIdle();
  await deps.catalog.warmUp(edition.set, isWanted);
}

async function bulkResponse(request: HttpRequest, deps: PublicRouteDeps): Promise<HttpResponse> {
  await deps.ready();
  deps.library.assertReadable();
  const { version: versionText = '', file: name = '' } = request.parameters;
  if (!(BULK_NAMES as readonly string[]).includes(name))
    throw gameDataError('not_found', 'Not found');
  if (versionText === 'latest') {
    const location = `/api/bulk/v${deps.library.current.version.version}/${name}`;
    const headers = { vary: 'Accept-Encoding', location, 'cache-control': deps.cacheControl };
    const body = Buffer.from(JSON.stringify({ location }));
    return bytesResponse(302, JSON_TYPE, body, Object.entries(headers));
  }
  const number = /^v([1-9]\d{0,9})$/.exec(versionText)?.[1];
  if (number === undefined) throw gameDataError('unknown_version', { version: versionText });
  const [, format] = name.split('.');
  const type = format === 'ndjson' ? NDJSON_TYPE : JSON_TYPE;
  const coding = negotiate(request.headers, type, ['gzip']); // files are stored only in this coding
  const edition = await deps.library.edition(Number(number));
  const { gzip, sizeBytes, sha256 } = await deps.bulk.file(edition, name as BulkName); // validated above
  const isPacked = coding === 'gzip';
  const etag = Buffer.from(sha256, 'hex').toString('base64url').slice(0, 22);
  const { publishedMs: lastModifiedMs } = edition.version;
  const headers = Object.entries({
    vary: 'Accept-Encoding',
    'content-type': type,
    'cache-control': IMMUTABLE,
    'x-data-version': number,
    ...lastModified(edition.version, deps.clock),
    etag: `"${etag}${isPacked ? '-gz' : ''}"`,
  });
  if (isFresh(request.headers, { etag, lastModifiedMs })) return emptyResponse(304, headers);
  if (isPacked) {
    return { status: 200, headers: [...headers, ['content-encoding', 'gzip']], body: gzip };
  }
  return { status: 200, headers, body: undefined, rest: unpacked(gzip), sizeBytes };
}

async function* unpacked(gzip: Buffer): AsyncGenerator<Buffer, void, undefined> {
  const stream = createGunzip();
  stream.end(gzip);
  for await (const piece of stream) yield piece as Buffer; // the stream has no encoding, so chunks are buffers
}
