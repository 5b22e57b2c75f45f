import type { Choice, Role } from '@plinth/console-core/lib/line-protocol/csv-columns.js';
import { type ColumnGuess, type FieldType, TYPE_NAMES } from '@plinth/line-protocol';
import { DataTable } from '../../../components/controls/data-table.js';

const ROLES: Readonly<Record<Role, string>> = {
  time: 'time',
  tag: 'tag',
  field: 'field',
  out: 'ignore',
};

/** Lets the user choose the role and the type of each CSV column. */
export function ColumnTable(props: {
  readonly columns: readonly ColumnGuess[];
  readonly onChoose: (name: string, choice: Choice) => void;
}) {
  const { columns, onChoose } = props;
  return (
    <DataTable
      label="Columns of the file"
      rows={columns}
      keyOf={({ name }) => name}
      columns={[
        {
          title: 'Column',
          className: 'mono column-name',
          cell: ({ name, examples, hasDecimalCommas }) => (
            <>
              {name}
              <div className="column-examples">{examples.join('  ·  ')}</div>
              {hasDecimalCommas && (
                <div className="hint">
                  Values with a decimal comma are not recognized as numbers.
                </div>
              )}
            </>
          ),
        },
        {
          title: 'Role',
          cell: ({ name, role, type }) => (
            <Select
              label={`Role of ${name}`}
              value={role}
              labels={ROLES}
              onChange={(next) => onChoose(name, { role: next, type })}
            />
          ),
        },
        {
          title: 'Type',
          cell: ({ name, role, type }) => (
            <>
              {role === 'field' ? (
                <Select
                  label={`Type of ${name}`}
                  value={type}
                  labels={TYPE_NAMES}
                  onChange={(next: FieldType) => onChoose(name, { role, type: next })}
                />
              ) : (
                <span className="soft">{role === 'tag' ? 'text' : ''}</span>
              )}
            </>
          ),
        },
      ]}
    />
  );
}

function Select<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly labels: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
}) {
  const { label, value, labels, onChange } = props;
  return (
    <select
      className="input small"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value as T)} // The value of a select is one of its options.
    >
      {(Object.keys(labels) as T[]).map((each) => (
        <option key={each} value={each}>
          {labels[each]}
        </option>
      ))}
    </select>
  );
}
