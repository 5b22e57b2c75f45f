import type { Table } from '@plinth/console-core/api/tsdb.js';
import {
  AGGREGATES,
  aggregatesOf,
  type BuilderField,
  type BuilderQuery,
  EVERY_AUTO,
  fieldsOf,
  hasRate,
  startQuery,
  withTable,
} from '@plinth/console-core/lib/query/builder/builder-query.js';
import type { Language } from '@plinth/console-core/lib/query/macros.js';
import { Icon } from '../../../components/controls/icon.js';
import { BuilderConditions } from './builder-conditions.js';
import { Choice, Part, type PartProps, RemoveButton } from './builder-parts.js';
import './builder.css';

interface BuilderProps {
  readonly db: string;
  readonly language: Language;
  /** `undefined` for an empty editor, and for text that the builder would not write. */
  readonly query: BuilderQuery | undefined;
  readonly isEmpty: boolean;
  readonly tables: readonly Table[];
  readonly onChange: (query: BuilderQuery) => void;
  /** Hides the builder. */
  readonly onDetach: () => void;
}

/** Shows the query of the editor as a form, and writes each change back to the editor. */
export function QueryBuilder(props: BuilderProps) {
  const { db, language, query, isEmpty, tables, onChange, onDetach } = props;
  const languageName = language === 'sql' ? 'SQL' : 'InfluxQL';
  const table = tables.find(({ name }) => name === query?.table);
  return (
    <section className="builder" aria-label="Query builder">
      {query === undefined && !isEmpty ? (
        <span className="builder-part soft">This query can only be edited as {languageName}.</span>
      ) : (
        <TableChoice {...{ query, tables, onChange }} />
      )}
      {query && (
        <>
          <Fields {...{ query, table, onChange }} />
          <BuilderConditions key={query.table} {...{ db, language, query, table, onChange }} />
          <Groups {...{ query, table, onChange }} />
          <Every {...{ query, onChange }} />
        </>
      )}
      <button type="button" className="button small quiet builder-detach" onClick={onDetach}>
        Edit as {languageName}
      </button>
    </section>
  );
}

function TableChoice(props: {
  readonly query: BuilderQuery | undefined;
  readonly tables: readonly Table[];
  readonly onChange: (query: BuilderQuery) => void;
}) {
  const { query, tables, onChange } = props;
  const choose = (name: string): void => {
    const table = tables.find((each) => each.name === name);
    const next = table && (query === undefined ? startQuery(table) : withTable(query, table));
    if (next !== undefined) onChange(next);
  };
  return (
    <Part title="Table">
      <Choice
        label="Table"
        value={query?.table ?? ''}
        options={tables.map(({ name }) => name)}
        textOf={(name) => name || 'choose a table'}
        onChange={choose}
      />
    </Part>
  );
}

const EVERY = [
  ...[EVERY_AUTO, '1 second', '10 seconds', '30 seconds', '1 minute', '5 minutes', '15 minutes'],
  ...['1 hour', '6 hours', '1 day', ''],
] as const;

function Fields({ query, table, onChange }: Omit<PartProps, 'language'>) {
  const fields = table === undefined ? [] : fieldsOf(table);
  const setField = (index: number, field: BuilderField): void =>
    onChange({ ...query, fields: query.fields.with(index, field) });
  const kindOf = (name: string): string => fields.find((each) => each.name === name)?.kind ?? '';
  const rename = (index: number, { aggregate }: BuilderField, name: string): void => {
    const possible = aggregatesOf(kindOf(name));
    const kept = possible.find((each) => each === aggregate) ?? possible[0] ?? 'count';
    setField(index, { name, aggregate: kept });
  };
  const [first] = fields.filter(({ name }) => query.fields.every((each) => each.name !== name));
  const added = first ?? fields[0];
  return (
    <Part title="Field">
      {query.fields.map((field, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a field may occur several times.
        <span key={index} className="builder-item">
          <Choice
            label={`Field ${index + 1}`}
            value={field.name}
            options={fields.map(({ name }) => name)}
            onChange={(name) => rename(index, field, name)}
          />
          <Choice
            label={`Aggregate of field ${index + 1}`}
            value={field.aggregate}
            options={aggregatesOf(kindOf(field.name))}
            isDisabled={(each) => each === 'rate' && query.every === ''}
            onChange={(name) =>
              setField(index, {
                ...field,
                aggregate: AGGREGATES.find((each) => each === name) ?? field.aggregate,
              })
            }
          />
          {query.fields.length > 1 && (
            <RemoveButton
              label={`Remove field ${index + 1}`}
              act={() => onChange({ ...query, fields: query.fields.toSpliced(index, 1) })}
            />
          )}
        </span>
      ))}
      {added && (
        <button
          type="button"
          className="button icon small"
          aria-label="Add field"
          onClick={() => {
            const [aggregate = 'count'] = aggregatesOf(added.kind);
            onChange({ ...query, fields: [...query.fields, { name: added.name, aggregate }] });
          }}
        >
          <Icon name="plus" size={12} />
        </button>
      )}
    </Part>
  );
}

function Groups({ query, table, onChange }: Omit<PartProps, 'language'>) {
  const tags = (table?.columns ?? []).filter(({ kind }) => kind === 'tag').map(({ name }) => name);
  const others = tags.filter((name) => !query.groupBy.includes(name));
  if (query.groupBy.length === 0 && others.length === 0) return null;
  return (
    <Part title="Group by">
      {query.groupBy.map((name, index) => (
        <span key={name} className="chip builder-chip">
          {name}
          <RemoveButton
            label={`Remove group ${name}`}
            act={() => onChange({ ...query, groupBy: query.groupBy.toSpliced(index, 1) })}
          />
        </span>
      ))}
      {others.length > 0 && (
        <Choice
          label="Add group"
          value=""
          options={others}
          textOf={(name) => name || 'add …'}
          onChange={(name) => onChange({ ...query, groupBy: [...query.groupBy, name] })}
        />
      )}
    </Part>
  );
}

function Every({ query, onChange }: Omit<PartProps, 'table' | 'language'>) {
  return (
    <Part title="every">
      <Choice
        label="Bucket width"
        value={query.every}
        options={EVERY}
        textOf={(width) => width || 'no buckets'}
        isDisabled={(width) => width === '' && hasRate(query)}
        onChange={(every) => onChange({ ...query, every })}
      />
    </Part>
  );
}
