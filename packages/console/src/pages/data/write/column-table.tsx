import { type ColumnGuess, type FieldType, TYPE_NAMES } from '@plinth/line-protocol';
import { TableWrap } from '../../../components/controls/table-wrap.js';
import type { Choice, Role } from '../../../lib/line-protocol/csv-columns.js';

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
    <TableWrap label="Columns of the file">
      <thead>
        <tr>
          <th>Column</th>
          <th>Role</th>
          <th>Type</th>
        </tr>
      </thead>
      <tbody>
        {columns.map(({ name, role, type, examples, hasDecimalCommas }) => (
          <tr key={name}>
            <td className="mono column-name">
              {name}
              <div className="column-examples">{examples.join('  ·  ')}</div>
              {hasDecimalCommas && (
                <div className="hint">
                  Values with a decimal comma are not recognized as numbers.
                </div>
              )}
            </td>
            <td>
              <Select
                label={`Role of ${name}`}
                value={role}
                labels={ROLES}
                onChange={(next) => onChoose(name, { role: next, type })}
              />
            </td>
            <td>
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
            </td>
          </tr>
        ))}
      </tbody>
    </TableWrap>
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
