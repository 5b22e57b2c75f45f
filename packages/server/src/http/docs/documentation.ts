import { type HttpService, type Logger, OpenApi, pageAnswer, type Route } from '@plinth/kernel';
import type { Settings } from '../../settings.js';
import { answerError, answerNotFound } from '../to-wire.js';
import { type Describe, documentationPages } from './documentation-pages.js';

/**
 * The pages that `documentation_url` of refusals leads to where no other place is set (`webhooks.docs_base`). They need no
 * credential: who was refused for the lack of one reads them. Source: webhooks, section 2.2; rate-limits, sections 7 and 8.
 */
export function createDocumentation(
  settings: Settings,
  log: Logger,
  describe: Describe,
): HttpService {
  const routes = documentationPages(settings, describe).flatMap(({ path, title, render }) => {
    let page: Buffer | undefined;
    const handle: Route['handle'] = () => {
      page ??= Buffer.from(render());
      return pageAnswer(page);
    };
    return [path, `${path}/`].map(
      (each): Route => ({
        method: 'GET',
        path: each,
        access: 'public',
        about: { summary: `Page for people: ${title}` },
        output: { 200: OpenApi.answer('the page', OpenApi.html) },
        isAlias: each !== path,
        handle,
      }),
    );
  });
  return {
    name: 'documentation',
    tables: () => [
      {
        api: 'operator',
        dialect: {
          service: 'documentation',
          paths: ['/docs'],
          identify: ({ ip }) => ({ kind: 'anonymous', ip }),
          answerError: (error, request) => answerError(error, log, request),
          answerNotFound,
        },
        routes,
      },
    ],
    async start() {},
    async close() {},
  };
}
