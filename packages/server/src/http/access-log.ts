import {
  type Clock,
  type HttpResponse,
  type Principal,
  redactTarget,
  requestIdOf,
} from '@plinth/kernel';
import type { Exchange } from './exchange.js';
import { sizeOf } from './exchange.js';

export type AccessLogFormat = 'json' | 'combined';

/** Writes a line for each request when its client has received the response or disconnected. */
export class AccessLog {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #write: (line: string) => void;
  readonly #lineOf: (access: Access) => string;

  constructor(
    format: AccessLogFormat,
    to: { readonly clock: Pick<Clock, 'nowMs'>; write(line: string): void },
  ) {
    this.#clock = to.clock;
    this.#write = to.write;
    this.#lineOf = format === 'json' ? jsonLine : combinedLine;
  }

  /** Counts the bytes of a body of unknown length. */
  watch(exchange: Exchange): void {
    const { response } = exchange;
    if (response?.rest === undefined || response.sizeBytes !== undefined) return;
    exchange.sentBytes = response.body?.length ?? 0;
    exchange.response = { ...response, rest: counted(response.rest, exchange) };
  }

  note(exchange: Exchange, durationMs: number): void {
    const { request, match, response, sentBytes } = exchange;
    const { method, url, headers, httpVersion } = request;
    const bytes = sentBytes ?? (response === undefined ? undefined : sizeOf(response));
    this.#write(
      this.#lineOf({
        timeMs: this.#clock.nowMs(),
        address: request.client.address,
        principal: nameOf(request.principal),
        method,
        url: redactTarget(url),
        httpVersion,
        route: match?.registered.route.path,
        status: response?.status,
        bytes,
        durationMs: Math.round(durationMs * 1000) / 1000,
        requestId: requestIdOf(headers),
        referrer: headers['referer'] && redactTarget(headers['referer']),
        userAgent: headers['user-agent'],
      }),
    );
  }
}

interface Access {
  readonly timeMs: number;
  readonly address: string;
  /** `undefined` if anonymous or not authenticated. */
  readonly principal: string | undefined;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: 1 | 2;
  /** The route pattern; `undefined` for an unknown path. */
  readonly route: string | undefined;
  /** `undefined` if the client disconnected before the response. */
  readonly status: number | undefined;
  readonly bytes: number | undefined;
  readonly durationMs: number;
  readonly requestId: string | undefined;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
}

function jsonLine({ timeMs, httpVersion: _, ...access }: Access): string {
  return `${JSON.stringify({ time: new Date(timeMs).toISOString(), ...access })}\n`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Formats a line in Apache's combined log format, for standard log tools. */
function combinedLine(access: Access): string {
  const { method, url, httpVersion, status, bytes } = access;
  const [, year, month, day, time] =
    /^(\d+)-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(new Date(access.timeMs).toISOString()) ?? [];
  const at = `${day}/${MONTHS[Number(month) - 1]}/${year}:${time} +0000`;
  const line = `${method} ${url} HTTP/${httpVersion === 2 ? '2.0' : '1.1'}`;
  const who = access.principal === undefined ? '-' : unspaced(access.principal);
  const [request, referrer, agent] = [line, access.referrer, access.userAgent].map(quoted);
  return `${access.address} - ${who} [${at}] ${request} ${status ?? 499} ${bytes ?? '-'} ${referrer} ${agent}\n`;
}

/** Quotes client data as Apache does, so that it cannot add line ends or quotes. */
const quoted = (text = '-'): string => `"${escaped(text, /[\\"]|[^\x20-\x7e]/gu)}"`;
const unspaced = (text: string): string => escaped(text, /[\\"]|[^\x21-\x7e]/gu);

const escaped = (text: string, unsafe: RegExp): string =>
  text.replace(unsafe, (character) =>
    character === '"' || character === '\\'
      ? `\\${character}`
      : [...Buffer.from(character)]
          .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
          .join(''),
  );

function nameOf(principal: Principal): string | undefined {
  switch (principal.kind) {
    case 'anonymous':
      return undefined;
    case 'admin':
      return principal.tokenName;
    case 'grantee':
    case 'editor':
      return principal.name;
    case 'platform_key':
      return `${principal.platform}/${principal.keyKind}/${principal.livemode ? 'live' : 'test'}`;
    case 'app':
      return `app/${principal.appId}`;
    case 'user':
      return `user/${principal.userId}`;
    case 'installation':
      return `installation/${principal.installationId}`;
    case 'oauth_app':
      return `oauth_app/${principal.clientId}`;
    case 'repository':
      return `repository/${principal.repositoryId}`;
  }
}

type Rest = NonNullable<HttpResponse['rest']>;

/** Counts the pieces. Unlike a generator's `finally`, `return` also runs if iteration never started. */
function counted(rest: Rest, exchange: Exchange): Rest {
  const counting: Rest = {
    async next() {
      const result = await rest.next();
      if (!result.done) exchange.sentBytes = (exchange.sentBytes ?? 0) + result.value.length;
      return result;
    },
    return: (value) => rest.return(value),
    throw: (error) => rest.throw(error),
    [Symbol.asyncIterator]: () => counting,
    [Symbol.asyncDispose]: async () => {
      await rest.return();
    },
  };
  return counting;
}
