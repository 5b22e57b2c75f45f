import { ANONYMOUS, type Dialect, type Logger } from '@plinth/kernel';
import { answerError, answerNotFound } from './to-wire.js';

/** Of pages and files: nobody is asked who they are, and pages of other origins are told nothing. */
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
  answerError: (error, request) => answerError(error, log, request),
  answerNotFound,
});
