import type { HistoryEntry, PatchOperation } from '@plinth/console-core/api/gamedata.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { Link } from '@tanstack/react-router';
import { DataTable, type TableColumn } from '../../components/controls/data-table.js';

const MAX_OPERATIONS = 6;

/** Changes with their editors and values, newest first. */
export function HistoryTable(props: {
  readonly entries: readonly HistoryEntry[] | undefined;
  readonly empty: string;
  /** Shows which record was changed. */
  readonly withRecord?: boolean;
}) {
  const { entries, empty, withRecord = false } = props;
  return (
    <DataTable
      label="Changes"
      rows={entries}
      keyOf={({ seq }) => seq}
      columns={[
        {
          title: 'Time (UTC)',
          className: 'nowrap',
          cell: ({ at }) => timeText(at),
        },
        { title: 'Editor', cell: ({ actor }) => actor },
        ...(withRecord ? [RECORD] : []),
        { title: 'Change', cell: ({ op }) => op },
        {
          title: 'Values',
          className: 'wide',
          cell: ({ patch }) => (
            <pre className="record-value">
              {patch.slice(0, MAX_OPERATIONS).map(operationText).join('\n')}
              {patch.length > MAX_OPERATIONS && `\nand ${patch.length - MAX_OPERATIONS} more`}
            </pre>
          ),
        },
        { title: 'State', className: 'nowrap', cell: stateText },
      ]}
      empty={empty}
    />
  );
}

const RECORD: TableColumn<HistoryEntry> = {
  title: 'Record',
  cell: ({ type, id }) =>
    type !== null &&
    id !== null && (
      <Link to="/gamedata/$kind/$id" params={{ kind: type, id }}>
        {type} {id}
      </Link>
    ),
};

const stateText = ({ version, discarded }: HistoryEntry): string => {
  if (discarded) return 'discarded';
  return version === undefined ? 'draft' : `version ${version}`;
};

const MAX_VALUE_LENGTH = 200;

function operationText({ op, path, value }: PatchOperation): string {
  const text = value === undefined ? '' : JSON.stringify(value);
  const cut = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)} …` : text;
  return `${op} ${path || 'record'} ${path === '' ? '' : cut}`.trimEnd();
}
