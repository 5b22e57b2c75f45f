import {
  addCondition,
  addRange,
  type ColumnValue,
  type FilterEdit,
} from '@plinth/console-core/lib/query/add-condition.js';
import type { SchemaTable } from '@plinth/console-core/lib/query/completion.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { type RefObject, useState } from 'react';
import { copyText } from '../../../components/controls/copy-button.js';
import { toast } from '../../../components/controls/toasts.js';
import { addressOf, type ExploreSearch, type languageOf } from '../explore-search.js';

/** Adds conditions from the result to the query, and runs it. */
export function useFilters(options: {
  readonly language: ReturnType<typeof languageOf>;
  readonly schema: readonly SchemaTable[];
  readonly latest: RefObject<{ readonly draft: string }>;
  readonly runWith: (change: ExploreSearch) => void;
}) {
  const { language, schema, latest, runWith } = options;
  const [added, setAdded] = useState<
    (FilterEdit & { kind: 'edited'; before: string }) | undefined
  >();
  const filtered = (columnValues: readonly ColumnValue[], isOut: boolean) =>
    addCondition(latest.current.draft, { language, schema, columnValues, isOut });
  const onEdit = (edit: FilterEdit, change: ExploreSearch = {}): void => {
    if (edit.kind === 'unsafe') {
      void copyText(edit.condition).then(() =>
        toast(`Condition copied. The query was not changed: ${edit.why}.`),
      );
      return;
    }
    setAdded({ ...edit, before: latest.current.draft });
    runWith({ q: edit.text, ...change });
  };
  const onBound = (range: TimeRange | undefined): void =>
    onEdit(addRange(latest.current.draft, { language, schema }), range && addressOf(range));
  return { added, filtered, onEdit, onBound };
}
