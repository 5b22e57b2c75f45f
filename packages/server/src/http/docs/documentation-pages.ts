import type { ApiDescription } from '@plinth/kernel';
import type { ServiceName, Settings } from '../../settings.js';
import type { ApiName } from './describe-apis.js';
import { limitsText } from './limits-text.js';
import { type DescribedPaths, listOperations, type PageLink, renderPage } from './render-page.js';

/** Rendered on the first request. */
export interface DocumentationPage {
  readonly path: string;
  readonly title: string;
  render(): string;
}

/** Describes the served routes of an API. */
export type Describe = (name: ApiName) => ApiDescription;

/** Root of the documentation site. */
export const INDEX = '/docs';
const REST = '/docs/rest';
const WEBHOOKS = `${REST}/apps/webhooks`;
const LIMITS = `${REST}/using-the-rest-api/rate-limits-for-the-rest-api`;
const OPERATOR = '/docs/operator';

const REFUSALS = `<p>A refused request changes nothing. The response body is JSON: <code>message</code> is the error,
<code>errors</code> lists the fields of a 422, and <code>status</code> repeats the status.</p>`;

/** Returns the built-in pages for the running services, starting with the index. */
export function documentationPages(
  settings: Settings,
  describe: Describe,
): readonly [index: DocumentationPage, ...DocumentationPage[]] {
  const runs = (name: ServiceName): boolean => settings.server.services.includes(name);
  const links: PageLink[] = [
    { path: REST, title: 'Platform API' },
    ...(runs('webhooks') ? [{ path: WEBHOOKS, title: 'App webhook' }] : []),
    ...(runs('ratelimit') ? [{ path: LIMITS, title: 'Limits' }] : []),
    { path: OPERATOR, title: 'Operator API' },
    ...(runs('accounts')
      ? [{ path: '/docs/accounts/errors', title: 'Error codes of accounts' }]
      : []),
    ...(runs('gamedata') ? [{ path: '/api/docs', title: 'Game data' }] : []),
  ];
  const described = (): DescribedPaths => {
    const names = ['webhooks', 'ratelimit', 'operator'] as const;
    return Object.assign({}, ...names.map((name) => describe(name).paths));
  };
  const operations = (isShown: (path: string) => boolean): string =>
    listOperations(
      Object.fromEntries(Object.entries(described()).filter(([path]) => isShown(path))),
    );
  const page = (path: string, title: string, content: () => string): DocumentationPage => ({
    path,
    title,
    render: () => renderPage({ title, links, content: content() }),
  });
  const isForOperators = (path: string): boolean => path.startsWith('/ops/');
  const isOfHook = (path: string): boolean => path.startsWith('/api/v3/app/hook/');
  return [
    page(INDEX, 'Documentation', () => ''),
    page(
      REST,
      'Platform API',
      () => REFUSALS + operations((path) => !isForOperators(path) && !path.startsWith('/docs')),
    ),
    page(
      OPERATOR,
      'Operator API',
      () =>
        `<p>Everything below <code>/ops/v1</code> requires an admin token as <code>Authorization: Bearer</code>.</p>${REFUSALS}${operations(isForOperators)}`,
    ),
    ...(runs('webhooks')
      ? [
          page(
            WEBHOOKS,
            'App webhook',
            () =>
              `<p>These operations take a JSON Web Token signed with the key of the app (RS256).</p>${REFUSALS}${operations(isOfHook)}`,
          ),
        ]
      : []),
    ...(runs('ratelimit') ? [page(LIMITS, 'Limits', () => limitsText(settings.rateLimit))] : []),
  ];
}
