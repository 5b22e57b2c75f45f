import { textColumn } from '../../domain/data/row.js';
import { listCategories } from '../../domain/kinds/items.js';
import { languageOf } from '../../domain/query/catalog.js';
import { findRow } from '../../domain/query/find-row.js';
import { include } from '../../domain/query/included-records.js';
import { readIncludes } from '../../domain/query/list-request.js';
import { Parameters } from '../../domain/query/parameters.js';
import { project, readProjection } from '../../domain/query/projection.js';
import type { Kind } from '../../model/kinds.js';
import { compareText } from '../../model/normal-text.js';
import { servedSchema } from '../../model/schemas/served.js';
import {
  languageHeader,
  type Page,
  type PublicDeps,
  page,
  readCommon,
  refuseUnknown,
  type Target,
} from './page.js';

export async function recordPage(
  deps: PublicDeps,
  options: { readonly kind: Kind; readonly id: string; readonly target: Target },
): Promise<Page> {
  const { kind, id, target } = options;
  const parameters = new Parameters(target.query);
  const { edition, language, isPinned } = await readCommon(deps, parameters);
  const paths = parameters.list('fields', { max: 50 });
  const includes = readIncludes(kind, parameters);
  const ignored = refuseUnknown(parameters);
  languageOf(edition.set, language);
  const row = findRow(edition.set, kind, id);
  const presenter = deps.catalog.presenter(edition.set, language);
  const record = presenter.present(kind, row, true);
  const idField = kind === 'levels' ? 'level' : 'id';
  const projected =
    paths === undefined
      ? record
      : (project(record, readProjection(paths, servedSchema(kind), idField)) as typeof record);
  const body =
    includes.relations.length === 0
      ? projected
      : { ...projected, included: include(kind, [row], includes, presenter) };
  return page(edition, body, { ...languageHeader(edition, language), ...ignored }, isPinned);
}

export async function calibersPage(deps: PublicDeps, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, isPinned } = await readCommon(deps, parameters);
  const ignored = refuseUnknown(parameters);
  const calibers = new Set<string>();
  for (const row of edition.set.tables.ammunition.rows) {
    calibers.add(textColumn(row, 'caliber') ?? '');
  }
  return page(edition, { calibers: [...calibers].sort(compareText) }, ignored, isPinned);
}

export async function categoriesPage(deps: PublicDeps, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const { edition, isPinned } = await readCommon(deps, parameters);
  const ignored = refuseUnknown(parameters);
  const categories = listCategories(edition.set.tables.items.rows);
  return page(edition, { categories }, ignored, isPinned);
}
