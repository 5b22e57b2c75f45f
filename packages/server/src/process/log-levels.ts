import type { Logger } from '@plinth/kernel';
import type { LogLevel } from './log-filter.js';

/** The level of a log and its children. Changes last until the next start. */
export class LogLevels {
  readonly #configured: LogLevel;
  /** The root logger and its children; each service creates one. */
  readonly #loggers: Logger[] = [];
  #level: LogLevel;

  constructor(configured: LogLevel) {
    this.#configured = configured;
    this.#level = configured;
  }

  get level(): LogLevel {
    return this.#level;
  }

  /** The level in the settings. */
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

  /** Switches between `debug` and the configured level. */
  toggleDebug(): LogLevel {
    this.use(this.#level === 'debug' ? this.#configured : 'debug');
    return this.#level;
  }
}
