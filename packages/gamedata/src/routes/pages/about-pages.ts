import { byTypeKey, findKind, KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { servedSchema } from '../../model/schemas/served.js';
import { type Page, type PublicDeps, page } from './page.js';

export const VERSION = '1.0.0';

export function indexPage({ library }: PublicDeps): Page {
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

export function schemasPage({ library }: PublicDeps): Page {
  const schemas = KINDS.map((kind) => ({ kind, url: `/api/schemas/${kind}` }));
  return page(library.current, { schemas });
}

export function schemaPage({ library }: PublicDeps, name: string): Page | undefined {
  const kind = findKind(name);
  if (kind === undefined) return undefined;
  return page(library.current, {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `/api/schemas/${kind}`,
    title: KIND_WIRE[kind].typeKey,
    ...servedSchema(kind),
  });
}
