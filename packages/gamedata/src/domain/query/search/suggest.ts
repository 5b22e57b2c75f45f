import { EditDistance } from '@plinth/kernel';
import { KINDS, type Kind } from '../../../model/kinds.js';
import { compareText, normalText, tokensOf } from '../../../model/normal-text.js';
import type { DataSet } from '../../data/data-set.js';
import { Presenter } from '../../data/public-record.js';
import { type Row, textColumn } from '../../data/row.js';
import type { TimeSlices } from '../../data/time-slices.js';
import { NAME_WEIGHT, WEIGHTS } from './group-texts.js';
import { visitNames } from './search-texts.js';
import type { TextIndex } from './text-index.js';

export interface SuggestRequest {
  readonly q: string;
  readonly kinds: readonly Kind[];
  readonly limit: number;
  /** Language code as sent by the client. */
  readonly language?: string | undefined;
}

export interface Suggestion {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string | null;
}

interface Candidate {
  readonly kind: Kind;
  readonly row: Row;
  /** 0 for a prefix of the name, 1 for a prefix of a word in it, 2 and above for the edit distance to a prefix. */
  readonly rank: number;
}

/**
 * Returns names for a search box: prefix matches first, then prefixes of words, then approximate
 * matches.
 */
export async function suggestNames(
  set: DataSet,
  request: SuggestRequest,
  { indexOf, slices }: { readonly indexOf: (kind: Kind) => TextIndex; readonly slices: TimeSlices },
): Promise<readonly Suggestion[]> {
  const needle = normalText(request.q);
  const best = new BestCandidates(request.limit);
  await lookAtNames((name) => suggestRank(name, needle));
  const limit = needle.length >= 8 ? 2 : needle.length >= 4 ? 1 : 0;
  if (best.isShort && limit > 0) {
    const edits = new EditDistance(needle, limit);
    await lookAtNames((name) => {
      const distance = edits.to(name.slice(0, needle.length));
      return distance <= limit ? 2 + distance : undefined;
    });
    const [firstToken, ...others] = tokensOf(needle);
    if (firstToken === needle && others.length === 0) await lookAtSimilarWords(edits);
  }
  const presenter = new Presenter(set, request.language);
  return best.list.map(({ kind, row: { id } }) => ({ kind, id, name: presenter.nameOf(kind, id) }));

  async function lookAtNames(rankOf: (name: string) => number | undefined): Promise<void> {
    for (const kind of request.kinds) {
      const { rows } = set.tables[kind];
      await visitNames({ set, index: indexOf(kind), slices }, (name, position) => {
        const rank = rankOf(name);
        const row = rows[position];
        if (rank !== undefined && row !== undefined) best.offer({ kind, row, rank });
      });
    }
  }

  /** Words come from the index, which has far fewer of them than there are names. */
  async function lookAtSimilarWords(edits: EditDistance): Promise<void> {
    for (const kind of request.kinds) {
      const index = indexOf(kind);
      const { groups } = set.tables[kind];
      const texts = await index.textsOf(set);
      const found = [...index.similarTo(needle).keys()].sort((a, b) => a - b);
      const ranks = found.map((token) => 2 + edits.to(index.wordOf(token)));
      const tokens = Uint32Array.from(found);
      for (const [groupIndex, { postings }] of texts.entries()) {
        const { rows = [] } = groups[groupIndex] ?? {};
        postings.find(tokens, (tokenIndex, { start, end }) => {
          for (let at = start; at < end; at++) {
            const entry = postings.entries[at] ?? 0;
            const row = rows[Math.floor(entry / WEIGHTS)];
            if (entry % WEIGHTS !== NAME_WEIGHT || row === undefined) continue;
            best.offer({ kind, row, rank: ranks[tokenIndex] ?? 2 });
          }
        });
        const pause = slices.check();
        if (pause !== undefined) await pause;
      }
    }
  }
}

/** Keeps the best few candidates in order, each row once with its best rank. */
class BestCandidates {
  readonly list: Candidate[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  get isShort(): boolean {
    return this.list.length < this.#count;
  }

  offer(candidate: Candidate): void {
    const last = this.list.at(-1);
    if (!this.isShort && last !== undefined && compareCandidates(candidate, last) >= 0) return;
    const known = this.list.findIndex(({ row }) => row === candidate.row);
    if (known !== -1) {
      if ((this.list[known]?.rank ?? 0) <= candidate.rank) return;
      this.list.splice(known, 1);
    }
    const after = this.list.findIndex((other) => compareCandidates(candidate, other) < 0);
    this.list.splice(after === -1 ? this.list.length : after, 0, candidate);
    if (this.list.length > this.#count) this.list.pop();
  }
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    a.rank - b.rank ||
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    compareText(textColumn(a.row, 'name') ?? '', textColumn(b.row, 'name') ?? '') ||
    compareText(a.row.id, b.row.id)
  );
}

function suggestRank(name: string, needle: string): number | undefined {
  if (name.startsWith(needle)) return 0;
  const at = name.indexOf(needle);
  if (at === -1) return undefined;
  return tokensOf(name).some((token) => token.startsWith(needle)) || name[at - 1] === ' '
    ? 1
    : undefined;
}
