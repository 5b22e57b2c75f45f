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
          <li>Values to convert: {countText(counts.value_count)}</li>
          <Effect
            label="Values that cannot be converted"
            count={counts.impossible_values}
            fix="Correct them first."
          />
          <Effect
            label="Rows that would have no field"
            count={counts.rows_without_field}
            fix="Delete them first."
          />
          <Effect label="Values that lose digits" count={counts.inexact_values} />
          <Effect label="Points that are merged with others" count={counts.merged_points} />
        </ul>
      )}
      <ReferenceList title="Updated automatically" references={counts?.follows} />
      <ReferenceList title="Check manually" references={counts?.needs_change} />
    </FormDialog>
  );
}

function Effect(props: {
  readonly label: string;
  readonly count: number;
  /** The action that is required before the conversion. */
  readonly fix?: string;
}) {
  const { label, count, fix } = props;
  return count === 0 ? null : (
    <li>
      {label}: {countText(count)}
      {fix !== undefined && `. ${fix}`}
    </li>
  );
}
