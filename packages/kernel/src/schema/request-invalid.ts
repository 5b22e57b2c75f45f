import type { SchemaFailure } from './schema-failure.js';

export type RequestPart = 'body' | 'querystring' | 'params' | 'headers';

/**
 * A part of the request does not match its schema. The message is only for logs: each service formats the failures in its
 * own API conventions.
 */
export class RequestInvalid extends Error {
  override readonly name = 'RequestInvalid';
  readonly kind = 'request_invalid';
  readonly part: RequestPart;
  /** In order of appearance, at least one and at most as many as the checker reports (8). */
  readonly failures: readonly SchemaFailure[];

  constructor(options: { part: RequestPart; failures: readonly SchemaFailure[] }) {
    super(`request ${options.part}: ${options.failures.map(describe).join('; ')}`);
    this.part = options.part;
    this.failures = options.failures;
  }
}

const describe = ({ path, keyword, expected }: SchemaFailure): string =>
  `${path.join('.')} ${keyword} ${expected.join('|')}`.trim();
