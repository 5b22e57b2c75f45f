import { ANONYMOUS, type Dialect, type Logger } from '@plinth/kernel';
import { errorResponse, notFoundResponse } from './to-wire.js';

/** Creates the dialect for public pages and files: no authentication, and no access from other origins. */
export const openDialect = ({
  service,
  path,
  log,
}: {
  readonly service: string;
  readonly path: string;
  readonly log: Logger;
}): Dialect => ({
  service,
  paths: [path],
  identify: () => ANONYMOUS,
  errorResponse: (error, request) => errorResponse(error, log, request),
  notFoundResponse: notFoundResponse,
});
