import { BULK_NAMES } from '../../domain/bulk-files.js';
import { checksumOf, type Library } from '../../domain/library.js';
import { Parameters } from '../../domain/query/parameters.js';
import { gameDataError } from '../../errors.js';
import { byTypeKey, findKind, KINDS } from '../../model/kinds.js';
import { type Page, type PublicDeps, page, refuseUnknown, type Target } from './page.js';

export function versionsPage(deps: PublicDeps, target: Target): Page {
  const parameters = new Parameters(target.query);
  const { defaultLimit, maxLimit } = deps.limits;
  const { limit = defaultLimit, offset = 0 } = parameters.page(maxLimit);
  const ignored = refuseUnknown(parameters);
  const { library } = deps;
  const numbers = library.versions.map(({ version }) => version).reverse();
  const versions = numbers
    .slice(offset, offset + limit)
    .map((number) => describeVersion(library, number));
  const body = { total: numbers.length, count: versions.length, offset, limit, versions };
  return page(library.current, body, { 'x-total-count': String(numbers.length), ...ignored });
}

export async function versionPage(deps: PublicDeps, text: string): Promise<Page> {
  if (!/^[1-9]\d{0,9}$/.test(text)) {
    throw gameDataError('invalid_parameter', {
      param: 'n',
      message: 'version must be an integer of at least 1',
    });
  }
  const edition = await deps.library.edition(Number(text));
  return page(edition, describeVersion(deps.library, Number(text)), {}, true);
}

export async function changesPage(deps: PublicDeps, target: Target): Promise<Page> {
  const parameters = new Parameters(target.query);
  const since = parameters.integer('since', { min: 0 });
  if (since === undefined) {
    throw gameDataError('invalid_parameter', {
      param: 'since',
      message: 'missing parameter since; send your current version',
    });
  }
  const kindName = parameters.nonEmptyText('kind');
  const kind = kindName === undefined ? undefined : findKind(kindName);
  if (kindName !== undefined && kind === undefined) {
    const message = `kind: unknown kind ${kindName}; known: ${KINDS.join(', ')}`;
    throw gameDataError('invalid_parameter', { param: 'kind', message });
  }
  const { defaultLimit, maxLimit } = deps.limits;
  const { limit = defaultLimit, offset = 0 } = parameters.page(maxLimit);
  const ignored = refuseUnknown(parameters);
  const edition = deps.library.current;
  const all = await deps.library.changesSince(since);
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

export async function bulkPage({ library, bulk }: PublicDeps): Promise<Page> {
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
