import { type HttpService, type Logger, OpenApi, pageResponse, type Route } from '@plinth/kernel';
import type { Settings } from '../../settings.js';
import { openConventions } from '../open-conventions.js';
import { notFoundResponse } from '../to-wire.js';
import {
  type Describe,
  type DocumentationPage,
  documentationPages,
  INDEX,
} from './documentation-pages.js';
import { DocumentationSite } from './documentation-site.js';

/**
 * Creates the documentation site if it is built, and the pages behind `documentation_url` unless `webhooks.docs_base`
 * is set. They are public, because clients without a credential need them. Source: webhooks, section 2.2; rate-limits,
 * sections 7 and 8.
 */
export function createDocumentation(
  settings: Settings,
  log: Logger,
  describe: Describe,
): HttpService {
  const site = new DocumentationSite();
  const [index, ...others] = documentationPages(settings, describe);
  const list = asRoute(index);
  const front: Route = {
    ...list,
    about: { summary: 'The documentation, or its built-in pages' },
    handle: async (request, context) =>
      (await site.respond('', request)) ?? (await list.handle(request, context)),
  };
  const pages = [front, ...others.map(asRoute)];
  const routes = [
    ...pages.flatMap((page) => [page, { ...page, path: `${page.path}/`, isAlias: true }]),
    publicPage(`${INDEX}/*`, 'Pages and files of the documentation', async (request) => {
      return (await site.respond(request.parameters['*'] ?? '', request)) ?? notFoundResponse();
    }),
  ];
  return {
    name: 'documentation',
    routeGroups: () => [
      {
        api: 'operator',
        conventions: openConventions({ service: 'documentation', path: INDEX, log }),
        routes,
      },
    ],
    async start() {},
    async close() {},
  };
}

/** Creates a route whose page is rendered on the first request. */
function asRoute({ path, title, render }: DocumentationPage): Route {
  let page: Buffer | undefined;
  return publicPage(path, `HTML page: ${title}`, () => {
    page ??= Buffer.from(render());
    return pageResponse(page);
  });
}

const publicPage = (path: string, summary: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  access: 'public',
  about: { summary },
  output: { 200: OpenApi.response('the page', OpenApi.html) },
  handle,
});
