import { type Clock, type Logger, loginOfUrl, requestIdOf } from '@plinth/kernel';
import type { Exchange } from './exchange.js';

/** Log lines per interval; further failures are counted, because attackers can cause thousands a second. */
const MAX_LINES = 100;
const WINDOW_MS = 60_000;

/** Logs refused credentials by address, kind and service, but never the credential. */
export class FailedLogins {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Logger;
  #sinceMs = Number.NEGATIVE_INFINITY;
  #lineCount = 0;
  #leftOut = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Records a refused request. Requests without a credential are not logins. */
  note({ request, conventions, response }: Exchange): void {
    const { status } = response ?? {};
    if (status !== 401 && status !== 429) return;
    const kind = credentialKind(request);
    if (kind === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs >= WINDOW_MS) {
      this.#sinceMs = nowMs;
      this.#lineCount = 0;
    }
    if (this.#lineCount >= MAX_LINES) {
      this.#leftOut += 1;
      return;
    }
    this.#lineCount += 1;
    const { address } = request.client;
    const leftOut = this.#leftOut === 0 ? undefined : this.#leftOut;
    this.#leftOut = 0;
    const { service } = conventions;
    const requestId = requestIdOf(request.headers);
    this.#log.info({ address, kind, service, status, leftOut, requestId }, 'login failed');
  }
}

const SCHEMES: ReadonlySet<string> = new Set(['basic', 'bearer', 'token']);

/** Returns the kind of a credential, never its value; `undefined` without one. */
function credentialKind({ headers, url }: Exchange['request']): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return loginOfUrl(url) === undefined ? undefined : 'query';
  const scheme = authorization.trim().split(/[ \t]/, 1)[0]?.toLowerCase() ?? '';
  return SCHEMES.has(scheme) ? scheme : 'other';
}
