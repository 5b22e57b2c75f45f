import { ANONYMOUS, type ApiConventions, type Logger } from '@plinth/kernel';
import { errorResponse, notFoundResponse } from './to-wire.js';

/** Creates the API conventions for public pages and files: no authentication, and no access from other origins. */
export const openConventions = ({
  service,
  path,
  log,
}: {
  readonly service: string;
  readonly path: string;
  readonly log: Logger;
}): ApiConventions => ({
  service,
  paths: [path],
  identify: () => ANONYMOUS,
  errorResponse: (error, request) => errorResponse(error, log, request),
  notFoundResponse: notFoundResponse,
});
