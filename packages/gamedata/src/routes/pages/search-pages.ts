import { MAX_HITS, Parameters } from '../../domain/query/parameters.js';
import { gameDataError } from '../../errors.js';
import { findKind, KINDS, type Kind } from '../../model/kinds.js';
import {
  languageHeader,
  type Page,
  type PublicDeps,
  page,
  readCommon,
  refuseUnknown,
  type Target,
} from './page.js';

export async function searchPage(deps: PublicDeps, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(deps, parameters);
  const q = readSearchText(parameters, { min: 1, max: 500 });
  const kinds = readKinds(parameters);
  const { limit = 20, offset = 0 } = parameters.page(Math.min(deps.limits.maxLimit, MAX_HITS));
  const ignored = refuseUnknown(parameters);
  const request = { q, kinds, language, offset, limit };
  const { total, hits } = await deps.catalog.search(edition.set, request, target.signal);
  const body = { total, count: hits.length, offset, limit, results: hits };
  const headers = {
    'x-total-count': String(total),
    ...languageHeader(edition, language),
    ...ignored,
  };
  return page(edition, body, headers, isPinned);
}

export async function suggestPage(deps: PublicDeps, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(deps, parameters);
  const q = readSearchText(parameters, { min: 2, max: 50 });
  const kinds = readKinds(parameters);
  const limit = parameters.integer('limit', { min: 1, max: 20 }) ?? 10;
  const ignored = refuseUnknown(parameters);
  const suggestions = await deps.catalog.suggest(
    edition.set,
    { q, kinds, limit, language },
    target.signal,
  );
  const headers = { ...languageHeader(edition, language), ...ignored };
  return page(edition, { suggestions }, headers, isPinned);
}

function readKinds(parameters: Parameters): readonly Kind[] {
  const names = parameters.list('kinds', { max: KINDS.length });
  if (names === undefined) return KINDS;
  const kinds = names.map((name) => {
    const kind = findKind(name);
    if (kind !== undefined) return kind;
    const message = `kinds: unknown kind ${name}; known: ${KINDS.join(', ')}`;
    throw gameDataError('invalid_parameter', { param: 'kinds', message });
  });
  return KINDS.filter((kind) => kinds.includes(kind));
}

function readSearchText(
  parameters: Parameters,
  length: { readonly min: number; readonly max: number },
): string {
  const q = parameters.text('q')?.trim() ?? '';
  if (q.length >= length.min && q.length <= length.max) return q;
  const message = `q must have ${length.min} to ${length.max} characters`;
  throw gameDataError('invalid_parameter', { param: 'q', message });
}
