import { ANONYMOUS, type Dialect, type Logger } from '@plinth/kernel';
import { answerError, answerNotFound } from '../http/to-wire.js';

/** Of the console's files: nobody is asked who they are, and pages of other origins are told nothing. */
export const consoleDialect = (log: Logger): Dialect => ({
  service: 'console',
  paths: ['/console'],
  identify: () => ANONYMOUS,
  answerError: (error, request) => answerError(error, log, request),
  answerNotFound,
});
