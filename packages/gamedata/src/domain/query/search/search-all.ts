import { type GameDataError, gameDataError, PARAMETER_KINDS } from '../../../errors.js';
import { KINDS, type Kind } from '../../../model/kinds.js';
import type { DataSet } from '../../data/data-set.js';
import { Presenter } from '../../data/public-record.js';
import type { TimeSlices } from '../../data/time-slices.js';
import { SmallestKeys } from '../smallest-keys.js';
import { parseQuery, type QueryNode } from './q-parser.js';
import { evaluateQuery, type Scores, type SearchScope } from './q-search.js';
import type { TextIndex } from './text-index.js';

export interface SearchRequest {
  readonly q: string;
  readonly kinds: readonly Kind[];
  /** Language code as sent by the client. */
  readonly language?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

export interface Hit {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string | null;
  readonly score: number;
}

export interface FoundHits {
  readonly total: number;
  readonly hits: readonly Hit[];
}

/**
 * Scores in responses have three decimals. A query has at most thirty terms, each with a score of
 * at most three.
 */
const SCORE_UNIT = 1000;
const MAX_SCORE = 2 ** 17 - 1;
/** Range of a hit's rank by id within its kind. */
const RANK_ROOM = 2 ** 28;
const KIND_ROOM = 16;

interface KindScores {
  readonly kind: Kind;
  readonly scores: Scores;
}

/** Returns one page of hits, best first, then by kind and id. Source: gamedata, section 2.8. */
export async function searchAll(
  set: DataSet,
  request: SearchRequest,
  from: Pick<SearchScope, 'findNamed' | 'presenter' | 'slices'> & {
    readonly indexOf: (kind: Kind) => TextIndex;
  },
): Promise<FoundHits> {
  const { indexOf, ...common } = from;
  const { slices } = from;
  const node = parseQuery(request.q);
  let found = await scoresOf(node);
  if (!found.some(({ scores }) => hasMatch(scores))) {
    const forgiving = mistyped(request.q);
    if (forgiving !== undefined) found = await scoresOf(forgiving);
  }
  return await bestOf(set, request, { found, slices });

  async function scoresOf(query: QueryNode): Promise<readonly KindScores[]> {
    const responses: KindScores[] = [];
    let failure: GameDataError | undefined;
    for (const kind of request.kinds) {
      const scope = { set, kind, index: indexOf(kind), ...common };
      try {
        responses.push({ kind, scores: await evaluateQuery(query, scope) });
      } catch (error) {
        // A field needs to exist in only one of the searched kinds.
        if (!gameDataError.is(error, ...PARAMETER_KINDS)) throw error;
        failure = error;
      }
    }
    if (responses.length === 0 && failure !== undefined) throw failure;
    return responses;
  }
}

/** Builds a typo-tolerant query of plain words, used if they have no exact match. */
function mistyped(q: string): QueryNode | undefined {
  const terms = q.trim().split(/\s+/);
  const isPlain = terms.length <= 30 && terms.every((term) => /^[\p{L}\p{N}'’.-]+$/u.test(term));
  if (!isPlain || terms.some((term) => term.startsWith('-') || term === 'OR')) return undefined;
  return { type: 'and', parts: terms.map((text) => ({ type: 'fuzzy', text }) as const) };
}

function hasMatch(scores: Scores): boolean {
  for (let position = 0; position < scores.length; position++) {
    if ((scores[position] ?? 0) > 0) return true;
  }
  return false;
}

/**
 * Encodes a hit as one number that sorts in page order, so that 100,000 hits are processed quickly.
 */
async function bestOf(
  set: DataSet,
  { offset, limit, language }: SearchRequest,
  { found, slices }: { readonly found: readonly KindScores[]; readonly slices: TimeSlices },
): Promise<FoundHits> {
  let totalCount = 0;
  for (const { scores } of found) totalCount += scores.length;
  const best = new SmallestKeys(offset + limit, totalCount);
  let total = 0;
  for (const { kind, scores } of found) {
    if (!hasMatch(scores)) continue;
    const { rankOf } = await set.tables[kind].idOrder();
    const place = KINDS.indexOf(kind);
    for (let position = 0; position < scores.length; position++) {
      const score = scores[position] ?? 0;
      if (score === 0) continue;
      total += 1;
      const worse = MAX_SCORE - Math.min(MAX_SCORE, Math.round(score * SCORE_UNIT));
      const pause = slices.next();
      if (pause !== undefined) await pause;
      best.offer((worse * KIND_ROOM + place) * RANK_ROOM + (rankOf[position] ?? 0));
    }
  }
  const presenter = new Presenter(set, language);
  const hits: Hit[] = [];
  for (const key of best.sorted().subarray(offset)) {
    const rest = Math.floor(key / RANK_ROOM);
    const kind = KINDS[rest % KIND_ROOM];
    if (kind === undefined) continue;
    const { positionOf } = await set.tables[kind].idOrder();
    const { id = '' } = set.tables[kind].rows[positionOf[key % RANK_ROOM] ?? 0] ?? {};
    const score = (MAX_SCORE - Math.floor(rest / KIND_ROOM)) / SCORE_UNIT;
    hits.push({ kind, id, name: presenter.nameOf(kind, id), score });
  }
  return { total, hits };
}
