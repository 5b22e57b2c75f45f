import type { Logger } from '@plinth/kernel';
import type { LogLevel } from './log-filter.js';

/** The level of a log and all its children, changed while the server runs; the next start has the configured one again. */
export class LogLevels {
  readonly #configured: LogLevel;
  /** A logger and its children; services make one each. */
  readonly #loggers: Logger[] = [];
  #level: LogLevel;

  constructor(configured: LogLevel) {
    this.#configured = configured;
    this.#level = configured;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** Of the settings. */
  get configured(): LogLevel {
    return this.#configured;
  }

  add(logger: Logger): void {
    logger.level = this.#level;
    this.#loggers.push(logger);
  }

  use(level: LogLevel): void {
    this.#level = level;
    for (const logger of this.#loggers) logger.level = level;
  }

  /** `debug`, and the configured level again. */
  toggleDebug(): LogLevel {
    this.use(this.#level === 'debug' ? this.#configured : 'debug');
    return this.#level;
  }
}
