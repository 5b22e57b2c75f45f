import type { Fault } from '@plinth/console-core/lib/form/fault.js';
import { groupsOf } from '@plinth/console-core/lib/form/field-groups.js';
import {
  fieldLabel,
  type RecordField,
  type Values,
  valueAt,
} from '@plinth/console-core/lib/form/record-fields.js';
import { useState } from 'react';
import { FindInput } from '../search/search-fields.js';
import { FaultList } from './fault-list.js';
import { FieldInputs, isOf } from './record-form.js';

/** More fields than this are in groups that open, with a search for fields. */
const MAX_OPEN_COUNT = 12;

/** A form with groups of fields. */
export function GroupedForm(props: {
  readonly label: string;
  readonly fields: readonly RecordField[];
  readonly values: Values;
  readonly stored: Values | undefined;
  readonly faults: readonly Fault[];
  readonly onChange: (values: Values) => void;
}) {
  const { label, fields, values, stored, faults, onChange } = props;
  const [find, setFind] = useState('');
  /** The groups that the user opened or closed, by title. */
  const [toggled, setToggled] = useState<Readonly<Record<string, boolean>>>({});
  const isShort = fields.length <= MAX_OPEN_COUNT;
  const searchText = find.trim().toLowerCase();
  const isFound = (field: RecordField): boolean =>
    `${fieldLabel(field)} ${field.path.join('.')}`.toLowerCase().includes(searchText);
  const groups = groupsOf(searchText === '' ? fields : fields.filter(isFound));
  const others = faults.filter((fault) => !fields.some((field) => isOf(field, fault)));
  return (
    <>
      <FaultList faults={others} />
      {!isShort && (
        <FindInput label="Find field" placeholder="Find field" value={find} onChange={setFind} />
      )}
      {groups.length === 0 && <p className="card empty soft">No field matches.</p>}
      <form className="stack" aria-label={label} onSubmit={(event) => event.preventDefault()}>
        {groups.map(({ title, path, fields: own }) => {
          const count = own.filter((field) => hasValue(valueAt(values, field.path))).length;
          const hasFault = faults.some((fault) => own.some((field) => isOf(field, fault)));
          const isOpen =
            isShort ||
            hasFault ||
            searchText !== '' ||
            (toggled[title] ?? (path.length === 0 || count > 0));
          return (
            <details
              key={title}
              className="card field-group"
              open={isOpen}
              onToggle={({ currentTarget: { open } }) =>
                open !== isOpen && setToggled({ ...toggled, [title]: open })
              }
            >
              <summary>
                {title}{' '}
                <span className="soft small">
                  {count} of {own.length} set
                </span>
              </summary>
              {isOpen && (
                <div className="record-form">
                  <FieldInputs
                    {...{ fields: own, values, faults, onChange }}
                    before={stored}
                    beforeName="before"
                    labelFrom={path.length}
                  />
                </div>
              )}
            </details>
          );
        })}
      </form>
    </>
  );
}

function hasValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== undefined && value !== false && value !== '';
}
