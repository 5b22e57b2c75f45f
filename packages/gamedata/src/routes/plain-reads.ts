import type {
  PlainAnswer,
  PlainFront,
  PlainMethod,
  PlainRequest,
  PlainRoute,
  Principal,
  Random,
} from '@plinth/kernel';
import { type GameDataFront, MAX_URL_LENGTH } from './front.js';
import { findReply, type PublicRead, type PublicReadParts } from './public-reads.js';
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

/** The gate looks for the address itself. */
const ANYBODY: Principal = { kind: 'anonymous', ip: '' };

/** Answers whose headers are kept as text: one takes as much memory as all else of a short reply. */
const MAX_KEPT_ANSWERS = 4096;

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
    headers: new Set(CLIENT_HEADERS),
    headsRecur: true,
    identify: ({ url }) => (url.length <= MAX_URL_LENGTH ? ANYBODY : undefined),
  };
  const kept = new KeptAnswers();
  return reads.flatMap((read) => {
    const { path } = read;
    const isAlone = path === '/' || path.includes(':');
    const paths = isAlone ? [path] : [path, `${path}/`];
    return paths.map((each) => new PlainRead(each, read, { ...needs, plainFront: front, kept }));
  });
}

class PlainRead implements PlainRoute {
  readonly methods: readonly PlainMethod[] = ['GET'];
  readonly access = 'public';
  readonly path: string;
  readonly front: PlainFront;
  readonly #read: PublicRead;
  readonly #hasParameter: boolean;
  readonly #needs: PlainReadNeeds & { readonly kept: KeptAnswers };

  constructor(
    path: string,
    read: PublicRead,
    needs: PlainReadNeeds & { readonly plainFront: PlainFront; readonly kept: KeptAnswers },
  ) {
    this.path = path;
    this.front = needs.plainFront;
    this.#read = read;
    this.#hasParameter = path.includes(':');
    this.#needs = needs;
  }

  answer(request: PlainRequest): PlainAnswer | Promise<PlainAnswer> {
    const { cache } = this.#needs.parts;
    const known = cache.byUrl(request.url);
    if (known === undefined) return this.#answerSlowly(request);
    const { kept } = this.#needs;
    try {
      const finished = finish(request.headers, known, cache);
      if (!(finished instanceof Promise)) return kept.of(finished);
      return finished.then(
        (made) => kept.of(made),
        (error: unknown) => this.#refusal(error, request),
      );
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
      return plainAnswer(await finish(request.headers, found, parts.cache));
    } catch (error) {
      return this.#refusal(error, request);
    }
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

/** Answers that were asked for again, each the same object from then on. */
class KeptAnswers {
  #answers = new WeakMap<Finished, PlainAnswer>();
  #count = 0;

  of(finished: Finished): PlainAnswer {
    const known = this.#answers.get(finished);
    if (known !== undefined) return known;
    // Starting over is rare, and cheaper for the usual case than keeping an order of use.
    if (this.#count >= MAX_KEPT_ANSWERS) {
      this.#answers = new WeakMap();
      this.#count = 0;
    }
    const answer = { ...plainAnswer(finished), recurs: true };
    this.#answers.set(finished, answer);
    this.#count += 1;
    return answer;
  }
}

function plainAnswer({ status, headers, bytes }: Finished): PlainAnswer {
  const pairs = Object.entries(headers)
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]): [string, string] => [name, String(value)]);
  return { status, headers: pairs, body: bytes };
}
