import { literalOf } from '@plinth/console-core/lib/query/add-condition.js';
import {
  type BuilderCondition,
  OPERATORS,
  operatorsOf,
  takesValue,
} from '@plinth/console-core/lib/query/builder/builder-query.js';
import type { Language } from '@plinth/console-core/lib/query/macros.js';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Icon } from '../../../components/controls/icon.js';
import { tagValues } from '../tag-values.js';
import { Choice, Part, type PartProps, RemoveButton } from './builder-parts.js';

/** The conditions of the query besides the time range. A new one is added once it has a value. */
export function BuilderConditions({
  db,
  language,
  query,
  table,
  onChange,
}: PartProps & { readonly db: string }) {
  const [isAdding, setIsAdding] = useState(false);
  const columns = (table?.columns ?? []).filter(({ kind }) => kind !== 'time');
  const [first] = columns;
  const { conditions } = query;
  const shared = { db, language, table: query.table, columns };
  return (
    <Part title="Where">
      {conditions.map((condition, index) => (
        <Condition
          // biome-ignore lint/suspicious/noArrayIndexKey: a condition may occur several times.
          key={`${index} ${condition.column} ${condition.literal}`}
          {...shared}
          condition={condition}
          onChange={(next) => onChange({ ...query, conditions: conditions.with(index, next) })}
          onRemove={() => onChange({ ...query, conditions: conditions.toSpliced(index, 1) })}
        />
      ))}
      {isAdding && first && (
        <Condition
          {...shared}
          condition={{ column: first.name, operator: '=', literal: '' }}
          isNew
          onChange={(next) => {
            setIsAdding(false);
            onChange({ ...query, conditions: [...conditions, next] });
          }}
          onRemove={() => setIsAdding(false)}
        />
      )}
      {!isAdding && first && (
        <button
          type="button"
          className="button icon small"
          aria-label="Add condition"
          onClick={() => setIsAdding(true)}
        >
          <Icon name="plus" size={12} />
        </button>
      )}
    </Part>
  );
}

function Condition(props: {
  readonly db: string;
  readonly language: Language;
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly kind: string }[];
  readonly condition: BuilderCondition;
  readonly isNew?: boolean;
  readonly onChange: (condition: BuilderCondition) => void;
  readonly onRemove: () => void;
}) {
  const { db, language, table, columns, condition, isNew = false, onChange, onRemove } = props;
  const id = useId();
  // Opening a link with a query must not run anything, so the values are fetched for the first input.
  const [isFocused, setIsFocused] = useState(false);
  const [draft, setDraft] = useState({ ...condition, text: textOf(condition.literal) });
  const kind = columns.find(({ name }) => name === draft.column)?.kind ?? 'utf8';
  const values = useQuery({
    queryKey: ['tsdb', 'tag-values', db, table, draft.column],
    queryFn: () => tagValues(db, { table, tag: draft.column, typed: '' }),
    enabled: kind === 'tag' && isFocused,
    staleTime: 60_000,
  });
  const isMissing = (next: typeof draft): boolean =>
    takesValue(next.operator) && (next.text === '' || literalIn(next) === undefined);
  const literalIn = ({ column, operator, text }: typeof draft): string | undefined => {
    const ofColumn = columns.find(({ name }) => name === column)?.kind ?? 'utf8';
    const valueKind = operator === 'LIKE' ? 'utf8' : ofColumn;
    // The query contains SQL literals, also for InfluxQL.
    const isPossible = literalOf(valueKind, text.trim(), language) !== undefined;
    return isPossible ? literalOf(valueKind, text.trim(), 'sql') : undefined;
  };
  /** Applies the draft, unless it is incomplete or unchanged. */
  const apply = (next: typeof draft): void => {
    setDraft(next);
    if (isMissing(next)) return;
    const literal = takesValue(next.operator) ? (literalIn(next) ?? '') : '';
    const { column, operator } = next;
    const isSame =
      column === condition.column &&
      operator === condition.operator &&
      literal === condition.literal;
    if (!isSame || isNew) onChange({ column, operator, literal });
  };
  const has = takesValue(draft.operator);
  return (
    <span className="builder-item">
      <Choice
        label="Condition column"
        value={draft.column}
        options={columns.map(({ name }) => name)}
        onChange={(column) => apply({ ...draft, column, text: '' })}
      />
      <Choice
        label="Condition operator"
        value={draft.operator}
        options={operatorsOf(language)}
        onChange={(name) =>
          apply({ ...draft, operator: OPERATORS.find((each) => each === name) ?? draft.operator })
        }
      />
      {has && (
        <input
          className="input"
          // biome-ignore lint/a11y/noAutofocus: the user has just added the condition.
          autoFocus={isNew}
          aria-label="Condition value"
          aria-invalid={draft.text !== '' && isMissing(draft)}
          list={`${id}-values`}
          autoComplete="off"
          placeholder="value"
          value={draft.text}
          onChange={(event) => setDraft({ ...draft, text: event.target.value })}
          onFocus={() => setIsFocused(true)}
          onBlur={() => apply(draft)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') apply(draft);
            if (event.key === 'Escape' && isNew) onRemove();
          }}
        />
      )}
      <datalist id={`${id}-values`}>
        {values.data?.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <RemoveButton label={`Remove condition on ${draft.column}`} act={onRemove} />
    </span>
  );
}

/** The text of a literal. */
const textOf = (literal: string): string =>
  literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal;
