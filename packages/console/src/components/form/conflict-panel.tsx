import { mergeRecords } from '@plinth/console-core/lib/form/merge-records.js';
import type { Values } from '@plinth/console-core/lib/form/record-fields.js';
import { useState } from 'react';
import { DataTable } from '../controls/data-table.js';
import './form.css';

/** Merges the user's change with a newer one of another editor. */
export function ConflictPanel(props: {
  readonly base: Values;
  readonly theirs: Values;
  readonly mine: Values;
  readonly onResolve: (merged: Values) => void;
  readonly what?: string;
}) {
  const { base, theirs, mine, onResolve, what = 'record' } = props;
  const { merged, conflicts } = mergeRecords(base, theirs, mine);
  const [chosen, setChosen] = useState<Readonly<Record<string, 'mine' | 'theirs'>>>({});
  const isDecided = conflicts.every(({ name }) => chosen[name] !== undefined);
  const choice = (name: string, side: 'mine' | 'theirs', value: unknown) => (
    <label className="choice-cell">
      <input
        type="radio"
        name={`conflict-${name}`}
        checked={chosen[name] === side}
        onChange={() => setChosen({ ...chosen, [name]: side })}
      />
      <Value value={value} />
    </label>
  );
  return (
    <section className="note warn stack" role="alert" aria-label="Conflict">
      <p>
        Another editor changed this {what} after you opened it.{' '}
        {conflicts.length === 0
          ? 'Your changes do not overlap.'
          : 'Choose a value for each field that both of you changed.'}
      </p>
      <DataTable
        label="Conflicts"
        rows={conflicts}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Field', cell: ({ name }) => name },
          { title: 'Before', cell: (each) => <Value value={each.base} /> },
          { title: 'Theirs', cell: (each) => choice(each.name, 'theirs', each.theirs) },
          { title: 'Mine', cell: (each) => choice(each.name, 'mine', each.mine) },
        ]}
      />
      <div className="row wrap">
        <button
          type="button"
          className="button primary"
          disabled={!isDecided}
          onClick={() => {
            const taken = conflicts.filter(({ name }) => chosen[name] === 'theirs');
            const values = Object.fromEntries(taken.map((each) => [each.name, each.theirs]));
            onResolve({ ...merged, ...values });
          }}
        >
          Merge
        </button>
        <span className="hint soft">The merged {what} is not saved yet.</span>
      </div>
    </section>
  );
}

const Value = ({ value }: { readonly value: unknown }) => (
  <pre className="record-value">{JSON.stringify(value, null, 2) ?? 'none'}</pre>
);
