import { BULK_NAMES, type BulkFiles } from '../domain/bulk-files.js';
import { listCategories } from '../domain/kinds/items.js';
import { checksumOf, type Library } from '../domain/library.js';
import { Presenter } from '../domain/public-record.js';
import type { Edition } from '../domain/publication.js';
import { type Catalog, findRow, include, languageOf } from '../domain/query/catalog.js';
import { type ListLimits, readIncludes, readListRequest } from '../domain/query/list-request.js';
import { Parameters } from '../domain/query/parameters.js';
import { project, readProjection } from '../domain/query/projection.js';
import { textColumn } from '../domain/row.js';
import { ParameterInvalid } from '../errors.js';
import { byTypeKey, findKind, KIND_WIRE, KINDS, type Kind } from '../model/kinds.js';
import { compareText } from '../model/normal-text.js';
import { servedSchema } from '../model/schemas/served.js';

/** What a public path answers, before it is turned into bytes. */
export interface Page {
  readonly body: unknown;
  readonly edition: Edition;
  readonly isPinned: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PublicParts {
  readonly library: Library;
  readonly catalog: Catalog;
  readonly bulk: BulkFiles;
  readonly limits: ListLimits;
}

/** Path and query as they came. */
export interface Target {
  readonly path: string;
  readonly query: string;
}

export const VERSION = '1.0.0';

const page = (
  edition: Edition,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  isPinned = false,
): Page => ({ body, edition, headers, isPinned });

export function indexPage({ library }: PublicParts): Page {
  const edition = library.current;
  return page(edition, {
    name: 'plinth game data',
    version: VERSION,
    description: 'Read-only data about a game: items, ammunition, traders, quests, maps and more.',
    dataVersion: edition.version.version,
    ...(library.isDegraded && { degraded: true }),
    endpoints: byTypeKey(
      Object.fromEntries(KINDS.map((kind) => [kind, `/api/${kind}`])) as Record<Kind, string>,
    ),
  });
}

/** One of the nine lists. Source: gamedata, section 2.3. */
export async function listPage(parts: PublicParts, kind: Kind, target: Target): Promise<Page> {
  const request = readListRequest(kind, target.query, parts.limits);
  const edition = await parts.library.edition(request.version);
  const found = await parts.catalog.list(edition.set, request);
  const { total, records, notFound, included } = found;
  const { offset, canonical, isPage } = request;
  const limit = request.limit ?? total;
  const url = (to: number): string => {
    const parameters = new URLSearchParams(
      canonical.map(([name, value]): [string, string] => [name, value]),
    );
    if (request.limit !== undefined) parameters.set('limit', String(request.limit));
    parameters.set('offset', String(to));
    return `${target.path}?${parameters}`;
  };
  const hasNext = limit > 0 && offset + limit < total;
  const next = hasNext ? url(offset + limit) : null;
  const lastOffset = limit > 0 ? Math.max(0, Math.ceil(total / limit) - 1) * limit : 0;
  // From beyond the end one step leads back to records.
  const before = offset >= total ? lastOffset : Math.max(0, offset - limit);
  const previous = limit > 0 && offset > 0 ? url(before) : null;
  const links = [
    ['first', url(0)],
    ...(previous === null ? [] : [['prev', previous]]),
    ...(next === null ? [] : [['next', next]]),
    ['last', url(lastOffset)],
  ].map(([rel, href]) => `<${href}>; rel="${rel}"`);
  const headers = {
    'x-total-count': String(total),
    ...((next !== null || previous !== null) && { link: links.join(', ') }),
    ...languageHeader(edition, request.language),
    ...(request.ignored.length > 0 && { 'x-ignored-params': headerText(request.ignored) }),
  };
  const envelope = {
    total,
    count: records.length,
    offset,
    limit,
    next,
    previous,
    ...(notFound !== undefined && { notFound }),
    ...(included !== undefined && { included }),
  };
  const { listKey } = KIND_WIRE[kind];
  const isPinned = request.version !== undefined;
  if (isPage) {
    const body = { ...envelope, version: edition.version.version, data: records };
    return page(edition, body, headers, isPinned);
  }
  if (listKey !== undefined) {
    return page(edition, { ...envelope, [listKey]: records }, headers, isPinned);
  }
  return page(edition, bareList(parts, edition, kind, records), headers, isPinned);
}

function bareList(
  _parts: PublicParts,
  { set }: Edition,
  kind: Kind,
  records: readonly Record<string, unknown>[],
): unknown {
  if (kind === 'hideout') return { modules: records };
  if (kind !== 'traders') return records;
  // Projection may have left the slug out of the record.
  const keyed = records.map((record): [string, unknown] => [
    set.row('traders', String(record['id']))?.slug ?? String(record['id']),
    record,
  ]);
  return Object.fromEntries(keyed);
}

/** Names of parameters are the client's choice: only what may stand in a header comes back. */
function headerText(names: readonly string[]): string {
  return names
    .slice(0, 20)
    .map((name) => encodeURIComponent(name.slice(0, 64).replace(/[\ud800-\udfff]/g, '?')))
    .join(', ');
}

function languageHeader(edition: Edition, language: string | undefined): Record<string, string> {
  if (language === 'all') return { 'content-language': edition.set.about.languages.join(', ') };
  return { 'content-language': languageOf(edition.set, language) };
}

/** Parameters that single records and small pages share. */
async function readCommon(parts: PublicParts, parameters: Parameters) {
  const version = parameters.integer('version', { min: 1, max: 2_147_483_647 });
  const language = parameters.word('lang');
  const edition = await parts.library.edition(version);
  return { edition, language, isPinned: version !== undefined };
}

function refuseUnknown(parameters: Parameters): Record<string, string> {
  const isStrict = parameters.flag('strict') ?? false;
  const { unknown } = parameters;
  const [first] = unknown;
  if (first === undefined) return {};
  if (!isStrict) return { 'x-ignored-params': headerText(unknown) };
  const message = `unknown parameter ${unknown.join(', ')}`;
  throw new ParameterInvalid({ param: first, kind: 'unknown_parameter', message });
}

/** For pages that take no parameter of their own: tells which were sent, or refuses them if the client wants that. */
export function ignoreParameters({ query }: Target): Record<string, string> {
  return query === '' ? {} : refuseUnknown(new Parameters(query));
}

export async function recordPage(
  parts: PublicParts,
  at: { readonly kind: Kind; readonly id: string; readonly target: Target },
): Promise<Page> {
  const { kind, id, target } = at;
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(parts, parameters);
  const paths = parameters.list('fields', { max: 50 });
  const includes = readIncludes(kind, parameters);
  const ignored = refuseUnknown(parameters);
  languageOf(edition.set, language);
  const row = findRow(edition.set, kind, id);
  const presenter = new Presenter(edition.set, language);
  const record = presenter.present(kind, row, true);
  const idField = kind === 'levels' ? 'level' : 'id';
  const kept =
    paths === undefined
      ? record
      : (project(record, readProjection(paths, servedSchema(kind), idField)) as typeof record);
  const body =
    includes.relations.length === 0
      ? kept
      : { ...kept, included: include(kind, [row], includes, presenter) };
  return page(edition, body, { ...languageHeader(edition, language), ...ignored }, isPinned);
}

export async function calibersPage(parts: PublicParts, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, isPinned } = await readCommon(parts, parameters);
  const ignored = refuseUnknown(parameters);
  const calibers = new Set<string>();
  for (const row of edition.set.tables.ammunition.rows) {
    calibers.add(textColumn(row, 'caliber') ?? '');
  }
  return page(edition, { calibers: [...calibers].sort(compareText) }, ignored, isPinned);
}

export async function categoriesPage(parts: PublicParts, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, isPinned } = await readCommon(parts, parameters);
  const ignored = refuseUnknown(parameters);
  const categories = listCategories(edition.set.tables.items.rows);
  return page(edition, { categories }, ignored, isPinned);
}

function readKinds(parameters: Parameters): readonly Kind[] {
  const names = parameters.list('kinds', { max: KINDS.length });
  if (names === undefined) return KINDS;
  const kinds = names.map((name) => {
    const kind = findKind(name);
    if (kind !== undefined) return kind;
    const message = `kinds: ${name} is none; known: ${KINDS.join(', ')}`;
    throw new ParameterInvalid({ param: 'kinds', message });
  });
  return KINDS.filter((kind) => kinds.includes(kind));
}

export async function searchPage(parts: PublicParts, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(parts, parameters);
  const q = readQuestion(parameters, { min: 1, max: 500 });
  const kinds = readKinds(parameters);
  const { maxLimit } = parts.limits;
  const limit = parameters.integer('limit', { min: 0, max: Math.min(maxLimit, 1000) }) ?? 20;
  const offset = parameters.integer('offset', { min: 0, max: 2_147_483_647 }) ?? 0;
  const ignored = refuseUnknown(parameters);
  const wanted = { q, kinds, language, offset, limit };
  const { total, hits } = await parts.catalog.search(edition.set, wanted);
  const body = { total, count: hits.length, offset, limit, results: hits };
  const headers = {
    'x-total-count': String(total),
    ...languageHeader(edition, language),
    ...ignored,
  };
  return page(edition, body, headers, isPinned);
}

export async function suggestPage(parts: PublicParts, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(parts, parameters);
  const q = readQuestion(parameters, { min: 2, max: 50 });
  const kinds = readKinds(parameters);
  const limit = parameters.integer('limit', { min: 1, max: 20 }) ?? 10;
  const ignored = refuseUnknown(parameters);
  const suggestions = await parts.catalog.suggest(edition.set, { q, kinds, limit, language });
  const headers = { ...languageHeader(edition, language), ...ignored };
  return page(edition, { suggestions }, headers, isPinned);
}

function readQuestion(
  parameters: Parameters,
  length: { readonly min: number; readonly max: number },
): string {
  const q = parameters.text('q')?.trim() ?? '';
  if (q.length >= length.min && q.length <= length.max) return q;
  const message = `q must have ${length.min} to ${length.max} characters`;
  throw new ParameterInvalid({ param: 'q', message });
}

export function describeVersion(
  library: Library,
  number: number,
): Record<string, unknown> | undefined {
  const version = library.versions.find((candidate) => candidate.version === number);
  if (version === undefined) return undefined;
  return {
    version: version.version,
    publishedAt: new Date(version.publishedMs).toISOString(),
    message: version.message,
    actor: version.actor,
    source: version.source,
    counts: byTypeKey(version.counts),
    changes: version.changes,
    sha256: checksumOf(version),
  };
}

export function versionsPage(parts: PublicParts, target: Target): Page {
  const parameters = new Parameters(target.query);
  const { defaultLimit, maxLimit } = parts.limits;
  const limit = parameters.integer('limit', { min: 0, max: maxLimit }) ?? defaultLimit;
  const offset = parameters.integer('offset', { min: 0, max: 2_147_483_647 }) ?? 0;
  const ignored = refuseUnknown(parameters);
  const { library } = parts;
  const numbers = library.versions.map(({ version }) => version).reverse();
  const versions = numbers
    .slice(offset, offset + limit)
    .map((number) => describeVersion(library, number));
  const body = { total: numbers.length, count: versions.length, offset, limit, versions };
  return page(library.current, body, { 'x-total-count': String(numbers.length), ...ignored });
}

export async function versionPage(parts: PublicParts, text: string): Promise<Page> {
  if (!/^[1-9]\d{0,9}$/.test(text)) {
    throw new ParameterInvalid({ param: 'n', message: 'a version is a whole number from 1 on' });
  }
  const edition = await parts.library.edition(Number(text));
  return page(edition, describeVersion(parts.library, Number(text)), {}, true);
}

export async function changesPage(parts: PublicParts, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const since = parameters.integer('since', { min: 0, max: 2_147_483_647 });
  if (since === undefined) {
    throw new ParameterInvalid({
      param: 'since',
      message: 'since, the version you have, is missing',
    });
  }
  const kindName = parameters.word('kind');
  const kind = kindName === undefined ? undefined : findKind(kindName);
  if (kindName !== undefined && kind === undefined) {
    const message = `kind: ${kindName} is none; known: ${KINDS.join(', ')}`;
    throw new ParameterInvalid({ param: 'kind', message });
  }
  const { defaultLimit, maxLimit } = parts.limits;
  const limit = parameters.integer('limit', { min: 0, max: maxLimit }) ?? defaultLimit;
  const offset = parameters.integer('offset', { min: 0, max: 2_147_483_647 }) ?? 0;
  const ignored = refuseUnknown(parameters);
  const edition = parts.library.current;
  const all = await parts.library.changesSince(since);
  const found = kind === undefined ? all : all.filter((change) => change.kind === kind);
  const changes = found.slice(offset, offset + limit);
  const body = {
    from: since,
    to: edition.version.version,
    total: found.length,
    count: changes.length,
    changes,
  };
  return page(edition, body, { 'x-total-count': String(found.length), ...ignored });
}

export async function bulkPage({ library, bulk }: PublicParts): Promise<Page> {
  const edition = library.current;
  const { version, publishedMs } = edition.version;
  const files: object[] = [];
  for (const name of BULK_NAMES) {
    const file = await bulk.file(edition, name);
    files.push({
      kind: file.kind,
      format: file.format,
      url: `/api/bulk/v${version}/${name}`,
      bytes: file.sizeBytes,
      compressedBytes: file.gzip.length,
      sha256: file.sha256,
      count: file.count,
    });
  }
  return page(edition, { version, updatedAt: new Date(publishedMs).toISOString(), files });
}

export function schemasPage({ library }: PublicParts): Page {
  const schemas = KINDS.map((kind) => ({ kind, url: `/api/schemas/${kind}` }));
  return page(library.current, { schemas });
}

export function schemaPage({ library }: PublicParts, name: string): Page | undefined {
  const kind = findKind(name);
  if (kind === undefined) return undefined;
  return page(library.current, {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `/api/schemas/${kind}`,
    title: KIND_WIRE[kind].typeKey,
    ...servedSchema(kind),
  });
}
