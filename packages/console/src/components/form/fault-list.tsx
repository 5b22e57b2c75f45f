import type { Fault } from '@plinth/console-core/lib/form/fault.js';
import { countText } from '@plinth/console-core/lib/units.js';
import { Link } from '@tanstack/react-router';
import './form.css';

const MAX_SHOWN = 50;

/** Faults of records, with links to them. Renders nothing without faults. */
export function FaultList(props: {
  readonly faults: readonly Fault[];
  readonly isWarning?: boolean;
}) {
  const { faults, isWarning = false } = props;
  if (faults.length === 0) return null;
  return (
    <ul className={isWarning ? 'note warn fault-list' : 'note bad fault-list'}>
      {faults.slice(0, MAX_SHOWN).map(({ type, id, path, message }) => (
        <li key={`${type} ${id} ${path} ${message}`}>
          {type !== undefined && id !== undefined && (
            <Link to="/gamedata/$kind/$id" params={{ kind: type, id }}>
              {type} {id}
            </Link>
          )}{' '}
          {path && <code>{path}</code>} {message}
        </li>
      ))}
      {faults.length > MAX_SHOWN && <li>and {countText(faults.length - MAX_SHOWN)} more</li>}
    </ul>
  );
}
