import type { BulkFiles } from '../../domain/bulk-files.js';
import type { Library } from '../../domain/library.js';
import type { Edition } from '../../domain/publication.js';
import { type Catalog, languageOf } from '../../domain/query/catalog.js';
import type { ListLimits } from '../../domain/query/list-request.js';
import { Parameters } from '../../domain/query/parameters.js';
import { gameDataError } from '../../errors.js';

/** Percent-encoding turns a non-ASCII letter into up to nine characters. */
const MAX_HEADER_LENGTH = 2048;

/** Result of a public path before encoding. */
export interface Page {
  readonly body: unknown;
  readonly edition: Edition;
  readonly isPinned: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PublicDeps {
  readonly library: Library;
  readonly catalog: Catalog;
  readonly bulk: BulkFiles;
  readonly limits: ListLimits;
}

/** Path and query as sent by the client. */
export interface Target {
  readonly path: string;
  readonly query: string;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal;
}

export const page = (
  edition: Edition,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  isPinned = false,
): Page => ({ body, edition, headers, isPinned });

/** Parameters common to single records and small pages. */
export async function readCommon(deps: PublicDeps, parameters: Parameters) {
  const version = parameters.integer('version', { min: 1 });
  const language = parameters.nonEmptyText('lang');
  const edition = await deps.library.edition(version);
  return { edition, language, isPinned: version !== undefined };
}

export function refuseUnknown(parameters: Parameters): Record<string, string> {
  const isStrict = parameters.flag('strict') ?? false;
  const { unknown } = parameters;
  const [first] = unknown;
  if (first === undefined) return {};
  if (!isStrict) return { 'x-ignored-params': headerText(unknown) };
  const message = `unknown parameter ${unknown.join(', ')}`;
  throw gameDataError('unknown_parameter', { param: first, message });
}

/**
 * Returns a header with the ignored parameters of a page without parameters, or rejects them if the
 * client sent `strict`.
 */
export function ignoreParameters({ query }: Target): Record<string, string> {
  return query === '' ? {} : refuseUnknown(new Parameters(query));
}

export function languageHeader(
  edition: Edition,
  language: string | undefined,
): Record<string, string> {
  if (language === 'all') return { 'content-language': edition.set.metadata.languages.join(', ') };
  return { 'content-language': languageOf(edition.set, language) };
}

/** Clients choose parameter names, so they are encoded for use in a header. */
export function headerText(names: readonly string[]): string {
  return names
    .slice(0, 20)
    .map((name) => encodeURIComponent(name.slice(0, 64).replace(/[\ud800-\udfff]/g, '?')))
    .join(', ')
    .slice(0, MAX_HEADER_LENGTH);
}
