import { type Clock, pathOf, queryOf, type RouteDescription } from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import { KINDS } from '../model/kinds.js';
import { IMMUTABLE, JSON_TYPE } from './content-headers.js';
import { listDocs, recordDocs } from './openapi/collection-docs.js';
import {
  BULK,
  CALIBERS,
  CATEGORIES,
  changesDocs,
  INDEX,
  OPEN_API,
  ROOT,
  SCHEMA,
  SCHEMAS,
  SUGGEST,
  searchDocs,
  VERSION_DOCS,
  versionsDocs,
} from './openapi/data-set-docs.js';
import { indexPage, schemaPage, schemasPage } from './pages/about-pages.js';
import { listPage } from './pages/list-page.js';
import { ignoreParameters, type Page, type PublicDeps, type Target } from './pages/page.js';
import { calibersPage, categoriesPage, recordPage } from './pages/record-pages.js';
import { searchPage, suggestPage } from './pages/search-pages.js';
import { bulkPage, changesPage, versionPage, versionsPage } from './pages/version-pages.js';
import { dateAlone, lastModified } from './publication-date.js';
import { etagOf, type Reply, type ReplyCache } from './reply-cache.js';

export interface PublicReadDeps extends PublicDeps {
  readonly ownsRoot: boolean;
  readonly cache: ReplyCache;
  readonly clock: Clock;
  /** Resolves when the data is loaded. */
  readonly ready: () => Promise<void> | undefined;
  readonly cacheControl: string;
}

/** A JSON resource that is identified by its path. */
export interface PublicRead {
  /** The last segment may be a parameter. */
  readonly path: string;
  /**
   * Whether the response describes the service rather than its data, and is available without a
   * readable version.
   */
  readonly describesService: boolean;
  readonly docs: RouteDescription;
  /** @param parameter decoded last segment; empty if the path has none. */
  make(target: Target, parameter: string): Page | Promise<Page>;
}

/** Returns the nine lists and all related reads. Source: gamedata, section 2. */
export function publicReads(deps: PublicReadDeps, describe: () => object): readonly PublicRead[] {
  const reads: PublicRead[] = [];
  const { limits } = deps;
  const get = (
    path: string,
    docs: RouteDescription,
    make: PublicRead['make'],
    describesService = false,
  ): void => {
    reads.push({ path, docs, make, describesService });
  };
  const getBare = (
    path: string,
    docs: RouteDescription,
    make: (parameter: string) => Page | Promise<Page>,
    describesService = false,
  ): void => {
    const makeBare: PublicRead['make'] = async (target, parameter) => {
      const ignored = ignoreParameters(target);
      const page = await make(parameter);
      return { ...page, headers: { ...page.headers, ...ignored } };
    };
    get(path, docs, makeBare, describesService);
  };
  const getDescription = (
    path: string,
    docs: RouteDescription,
    make: (parameter: string) => Page,
  ): void => getBare(path, docs, make, true);
  if (deps.ownsRoot) getDescription('/', ROOT, () => indexPage(deps));
  getDescription('/api', INDEX, () => indexPage(deps));
  get('/api/ammunition/calibers/list', CALIBERS, (target) => calibersPage(deps, target));
  get('/api/items/categories/list', CATEGORIES, (target) => categoriesPage(deps, target));
  for (const kind of KINDS) {
    get(`/api/${kind}`, listDocs(kind, limits), (target) => listPage(deps, kind, target));
    const name = kind === 'levels' ? 'level' : 'id';
    get(`/api/${kind}/:${name}`, recordDocs(kind, name), (target, id) =>
      recordPage(deps, { kind, id, target }),
    );
  }
  get('/api/search', searchDocs(limits), (target) => searchPage(deps, target));
  get('/api/suggest', SUGGEST, (target) => suggestPage(deps, target));
  get('/api/versions', versionsDocs(limits), (target) => versionsPage(deps, target));
  getBare('/api/versions/:n', VERSION_DOCS, (n) => versionPage(deps, n));
  get('/api/changes', changesDocs(limits), (target) => changesPage(deps, target));
  getDescription('/api/schemas', SCHEMAS, () => schemasPage(deps));
  getDescription('/api/schemas/:kind', SCHEMA, (kind) => {
    const page = schemaPage(deps, kind);
    if (page === undefined) throw gameDataError('not_found', 'Not found');
    return page;
  });
  getDescription('/api/openapi.json', OPEN_API, () => ({
    body: describe(),
    edition: deps.library.current,
    headers: {},
    isPinned: false,
  }));
  getBare('/api/bulk', BULK, () => bulkPage(deps));
  return reads;
}

/** Returns the reply for a URL that is not in the cache, and caches it. */
export async function findReply(
  deps: PublicReadDeps,
  { make, describesService }: PublicRead,
  request: {
    readonly url: string;
    readonly parameter: () => string;
    /** Aborted when the client disconnects. */
    readonly signal: AbortSignal;
  },
): Promise<Reply> {
  await deps.ready();
  if (!describesService) deps.library.assertReadable();
  const { url, signal } = request;
  const target = { ...targetOf(url), signal };
  const key = canonicalKey(target);
  const known = deps.cache.byKey(key);
  if (known !== undefined) {
    deps.cache.remember(url, known);
    return known;
  }
  const page = await make(target, request.parameter());
  const found = makeReply(page, deps);
  // If a new version was published in the meantime, the outdated reply is sent but not cached.
  const isCurrent = page.isPinned || page.edition === deps.library.current;
  if (isCurrent) deps.cache.put(key, url, found);
  return found;
}

function targetOf(url: string): Target {
  const path = pathOf(url);
  // A trailing slash is ignored, also in links to other pages.
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return { path: bare, query: queryOf(url) };
}

/** Returns the URL with sorted parameters, so that their order does not matter. */
function canonicalKey({ path, query }: Target): string {
  if (query === '') return path;
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return `${path}?${parameters}`;
}

export function makeReply(page: Page, deps: PublicReadDeps): Reply {
  const body = Buffer.from(JSON.stringify(page.body));
  const { version } = page.edition;
  return {
    body,
    bodySize: body.length,
    etag: etagOf(body),
    // The response of a pinned URL never changes.
    lastModifiedMs: page.isPinned ? version.publishedMs : dateAlone(version, deps.library.versions),
    coded: {},
    headers: Object.entries({
      'content-type': JSON_TYPE,
      'cache-control': page.isPinned ? IMMUTABLE : deps.cacheControl,
      vary: 'Accept-Encoding',
      ...lastModified(version, deps.clock),
      'x-data-version': String(version.version),
      ...page.headers,
    }),
  };
}
