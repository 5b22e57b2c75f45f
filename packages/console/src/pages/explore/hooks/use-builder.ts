import type { BuilderQuery } from '@plinth/console-core/lib/query/builder/builder-query.js';
import { readBuilderQuery } from '@plinth/console-core/lib/query/builder/read-builder-query.js';
import { useEffect, useMemo, useState } from 'react';
import { type ExploreSearch, languageOf } from '../explore-search.js';

export interface Builder {
  /** Whether the database has tables. */
  readonly isPossible: boolean;
  readonly isShown: boolean;
  /** Whether the builder can show the text. */
  readonly isReadable: boolean;
  readonly isEmpty: boolean;
  readonly query: BuilderQuery | undefined;
  /** Keeps a shown builder while the user types, so that the editor does not move. */
  readonly hold: () => void;
}

/** Decides whether Explore shows the query builder for the text in the editor. */
export function useBuilder(at: {
  readonly search: ExploreSearch;
  readonly draft: string;
  readonly schema: readonly unknown[];
  readonly result: unknown;
}): Builder {
  const { search, draft, schema, result } = at;
  const [isHeld, setIsHeld] = useState(false);
  const tab = search['tab'];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query was opened or run.
  useEffect(() => setIsHeld(false), [tab, result]);
  const isPossible = schema.length > 0;
  const language = languageOf(search);
  const query = useMemo(
    () => (isPossible ? readBuilderQuery(draft, language) : undefined),
    [isPossible, draft, language],
  );
  const isEmpty = draft.trim() === '';
  const isReadable = isEmpty || query !== undefined;
  const isShown = isPossible && search['builder'] !== 'off' && (isReadable || isHeld);
  return { isPossible, isShown, isReadable, isEmpty, query, hold: () => setIsHeld(isShown) };
}
