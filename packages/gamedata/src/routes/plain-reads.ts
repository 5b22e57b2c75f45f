import type {
  PlainAnswer,
  PlainFront,
  PlainMethod,
  PlainRequest,
  PlainRoute,
  Random,
} from '@plinth/kernel';
import { type GameDataFront, MAX_URL_LENGTH } from './front.js';
import { findReply, type PublicRead, type PublicReadParts } from './public-reads.js';
import type { Reply } from './reply-cache.js';
import { type Finished, finish } from './send.js';

/** What browsers, their caches and proxies say beside their question, and what is read of it. */
const CLIENT_HEADERS = [
  'cache-control',
  'cookie',
  'dnt',
  'if-modified-since',
  'if-none-match',
  'origin',
  'pragma',
  'priority',
  'referer',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-site',
  'sec-fetch-user',
  'sec-gpc',
  'upgrade-insecure-requests',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

export interface PlainReadNeeds {
  readonly parts: PublicReadParts;
  readonly front: GameDataFront;
  readonly serviceName: string;
  readonly random: Random;
}

/** Public reads without the framework, which is most of what a reply costs that is kept. */
export function plainReads(
  reads: readonly PublicRead[],
  needs: PlainReadNeeds,
): readonly PlainRoute[] {
  const front: PlainFront = {
    service: needs.serviceName,
    principal: { kind: 'anonymous', ip: '' },
    headers: new Set(CLIENT_HEADERS),
    headsRecur: true,
    admits: ({ url }) => url.length <= MAX_URL_LENGTH,
  };
  return reads.flatMap((read) => {
    const { path } = read;
    const isAlone = path === '/' || path.includes(':');
    const paths = isAlone ? [path] : [path, `${path}/`];
    return paths.map((each) => new PlainRead(each, read, front, needs));
  });
}

class PlainRead implements PlainRoute {
  readonly methods: readonly PlainMethod[] = ['GET'];
  readonly path: string;
  readonly front: PlainFront;
  readonly #read: PublicRead;
  readonly #hasParameter: boolean;
  readonly #needs: PlainReadNeeds;

  constructor(path: string, read: PublicRead, front: PlainFront, needs: PlainReadNeeds) {
    this.path = path;
    this.front = front;
    this.#read = read;
    this.#hasParameter = path.includes(':');
    this.#needs = needs;
  }

  answer(request: PlainRequest): PlainAnswer | Promise<PlainAnswer> {
    const { cache } = this.#needs.parts;
    const known = cache.byUrl(request.url);
    if (known === undefined) return this.#answerSlowly(request);
    try {
      return this.#finished(request, known);
    } catch (error) {
      return this.#refusal(error, request);
    }
  }

  async #answerSlowly(request: PlainRequest): Promise<PlainAnswer> {
    const { parts } = this.#needs;
    const { url } = request;
    const parameter = (): string => (this.#hasParameter ? lastPartOf(url) : '');
    try {
      const found = await findReply(parts, this.#read, { url, parameter });
      return await this.#finished(request, found);
    } catch (error) {
      return this.#refusal(error, request);
    }
  }

  #finished({ headers }: PlainRequest, found: Reply): PlainAnswer | Promise<PlainAnswer> {
    const finished = finish(headers, found, this.#needs.parts.cache);
    return finished instanceof Promise ? finished.then(plainAnswer) : plainAnswer(finished);
  }

  #refusal(error: unknown, { url }: PlainRequest): PlainAnswer {
    const { front, random } = this.#needs;
    const worded = front.wordError(error, { url, id: random.uuidV4(), headers: {} });
    return { ...worded, headers: Object.entries(worded.headers) };
  }
}

/** A plain target has nothing to decode in its path. */
function lastPartOf(url: string): string {
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  return path.slice(path.lastIndexOf('/') + 1);
}

const plainAnswers = new WeakMap<Finished, PlainAnswer>();

function plainAnswer(finished: Finished): PlainAnswer {
  let answer = plainAnswers.get(finished);
  if (answer === undefined) {
    const { status, headers, bytes } = finished;
    const pairs = Object.entries(headers)
      .filter(([name]) => name !== 'content-length')
      .map(([name, value]): [string, string] => [name, String(value)]);
    answer = { status, headers: pairs, body: bytes, recurs: true };
    plainAnswers.set(finished, answer);
  }
  return answer;
}
