import { differencesOf } from '@plinth/console-core/lib/form/merge-records.js';
import type { Values } from '@plinth/console-core/lib/form/record-fields.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { DataTable } from '../controls/data-table.js';
import { QueryProblem } from '../controls/problem-note.js';
import './form.css';

/** The two states of a record; `undefined` where it does not exist. */
export interface RecordStates {
  readonly before: Values | undefined;
  readonly after: Values | undefined;
}

export interface ComparedRecord {
  readonly name: string;
  /** What happens to the record, such as `created`. */
  readonly change?: string;
  readonly fetchStates: () => Promise<RecordStates>;
}

const MAX_SHOWN = 50;
const MAX_VALUE_LENGTH = 2000;

/** Lists changed records. The values of a record are fetched when it is opened. */
export function RecordDifferences(props: {
  readonly records: readonly ComparedRecord[];
  /** Identifies the compared states. */
  readonly queryKey: readonly unknown[];
}) {
  const { records, queryKey } = props;
  return (
    <div className="stack">
      {records.slice(0, MAX_SHOWN).map((record) => (
        <OneRecord key={record.name} record={record} queryKey={[...queryKey, record.name]} />
      ))}
      {records.length > MAX_SHOWN && (
        <p className="hint soft">
          Showing the first {MAX_SHOWN} of {countText(records.length)} changed records
        </p>
      )}
    </div>
  );
}

function OneRecord(props: {
  readonly record: ComparedRecord;
  readonly queryKey: readonly unknown[];
}) {
  const { record, queryKey } = props;
  const [isOpen, setIsOpen] = useState(false);
  const states = useQuery({
    queryKey,
    queryFn: record.fetchStates,
    enabled: isOpen,
    staleTime: 0,
  });
  const { data } = states;
  return (
    <details onToggle={({ currentTarget: { open } }) => setIsOpen(open)}>
      <summary>
        <code>{record.name}</code>
        {record.change && <span className="soft"> {record.change}</span>}
      </summary>
      <QueryProblem of={states} />
      {data && (
        <DataTable
          label={`Differences of ${record.name}`}
          rows={differencesOf(data.before, data.after)}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Field', cell: ({ name }) => name },
            { title: 'Before', cell: ({ before }) => <Value value={before} /> },
            { title: 'After', cell: ({ after }) => <Value value={after} /> },
          ]}
          empty="No differences."
        />
      )}
    </details>
  );
}

function Value({ value }: { readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2) ?? 'none';
  const isCut = text.length > MAX_VALUE_LENGTH;
  return (
    <pre className="record-value">{isCut ? `${text.slice(0, MAX_VALUE_LENGTH)} …` : text}</pre>
  );
}
