import {
  checkConversion,
  startConversion,
  type TableColumn,
} from '@plinth/console-core/api/tsdb.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { FormDialog } from '../../../components/controls/form-dialog.js';
import { ProblemNote } from '../../../components/controls/problem-note.js';
import { toast } from '../../../components/controls/toasts.js';
import { ReferenceList } from './rename-dialog.js';

const TARGETS: Readonly<Record<TableColumn['kind'], readonly string[]>> = {
  time: [],
  tag: ['utf8'],
  utf8: ['float64', 'int64', 'uint64', 'bool', 'tag'],
  float64: ['int64', 'uint64', 'utf8', 'tag'],
  int64: ['float64', 'uint64', 'utf8', 'tag'],
  uint64: ['float64', 'int64', 'utf8', 'tag'],
  bool: ['float64', 'int64', 'uint64', 'utf8', 'tag'],
};

/** The dialog that converts a column. Shows the effects of the chosen type. */
export function ConvertDialog(props: {
  readonly db: string;
  readonly table: string;
  readonly column: TableColumn;
  readonly onClose: () => void;
}) {
  const { db, table, column, onClose } = props;
  const id = useId();
  const targets = TARGETS[column.kind];
  const [to, setTo] = useState(targets[0] ?? '');
  const conversion = { db, table, column: column.name, to };
  const check = useQuery({
    queryKey: ['tsdb', 'conversion', conversion],
    queryFn: () => checkConversion(conversion),
    retry: false,
  });
  const counts = check.data;
  const isPossible = counts?.impossible_values === 0 && counts.rows_without_field === 0;
  return (
    <FormDialog
      title={`Convert column ${column.name}`}
      action="Convert"
      canAct={isPossible}
      act={async () => {
        await startConversion(conversion);
        toast(`Conversion of ${column.name} started`);
        onClose();
      }}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor={id}>New type</label>
        <select
          id={id}
          className="input"
          value={to}
          onChange={(event) => setTo(event.target.value)}
        >
          {targets.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <span className="hint">
          The table is copied in the background. After that, writes to this column with the type{' '}
          {column.kind} are rejected. You can restore the original rows within 72 hours.
        </span>
      </div>
      {check.isError && <ProblemNote error={check.error} />}
      {counts && (
        <ul>
          <li>{countText(counts.value_count)} values are converted</li>
          <Effect
            count={counts.impossible_values}
            text="values cannot be converted; correct them"
          />
          <Effect count={counts.rows_without_field} text="rows would have no field; delete them" />
          <Effect count={counts.inexact_values} text="values lose digits" />
          <Effect count={counts.merged_points} text="points are merged with others" />
        </ul>
      )}
      <ReferenceList title="These follow" references={counts?.follows} />
      <ReferenceList title="Check these yourself" references={counts?.needs_change} />
    </FormDialog>
  );
}

function Effect({ count, text }: { readonly count: number; readonly text: string }) {
  return count === 0 ? null : (
    <li>
      {countText(count)} {text}
    </li>
  );
}
