import { type HttpService, type Logger, routesFor } from '@plinth/kernel';
import type { FastifyReply } from 'fastify';
import type { Settings } from '../../settings.js';
import { answerError, answerNotFound } from '../to-wire.js';
import { documentationPages } from './documentation-pages.js';

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/**
 * The pages that `documentation_url` of refusals leads to where no other place is set (`webhooks.docs_base`). They need no
 * credential: who was refused for the lack of one reads them. Source: webhooks, section 2.2; rate-limits, sections 7 and 8.
 */
export function createDocumentation(settings: Settings, log: Logger): HttpService {
  return {
    name: 'documentation',
    front: {
      paths: ['/docs'],
      authenticate: ({ ip }) => ({ kind: 'anonymous', ip }),
      answerError: (error, request, reply) => answerError(error, log, request, reply),
      answerNotFound: (_request, reply) => answerNotFound(reply),
    },
    async register(app) {
      routesFor(app, 'public');
      for (const { path, render } of documentationPages(settings)) {
        let page: Buffer | undefined;
        const send = (reply: FastifyReply): FastifyReply => {
          page ??= Buffer.from(render());
          return reply.headers(HEADERS).send(page);
        };
        for (const url of [path, `${path}/`]) app.get(url, (_request, reply) => send(reply));
      }
    },
    async start() {},
    async close() {},
  };
}
