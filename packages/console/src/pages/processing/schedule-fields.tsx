import {
  cronFault,
  nextRuns,
  type ScheduleKind,
} from '@plinth/console-core/lib/plugins/next-runs.js';
import { timeText } from '@plinth/console-core/lib/units.js';
import { TextField } from '../../components/controls/text-field.js';

const KINDS: readonly (readonly [kind: ScheduleKind, label: string])[] = [
  ['write', 'On write'],
  ['every', 'Every'],
  ['cron', 'Cron'],
  ['request', 'Request'],
];

const FIELDS: Readonly<
  Record<
    ScheduleKind,
    { readonly label: string; readonly placeholder: string; readonly hint: string }
  >
> = {
  write: {
    ...{ label: 'Table', placeholder: 'all tables' },
    hint: 'The plugin receives the written rows. Leave empty for all tables.',
  },
  every: { label: 'Interval', placeholder: '1h', hint: 'A duration such as 10s, 5m, 1h or 1d.' },
  cron: {
    ...{ label: 'Cron expression', placeholder: '0 0 6 * * *' },
    hint: 'In UTC: second, minute, hour, day of month, month and day of week.',
  },
  request: {
    ...{ label: 'Path', placeholder: 'hello' },
    hint: 'The plugin handles requests to /api/v3/engine/ with this path.',
  },
};
const SHOWN_RUNS = 3;

export interface Schedule {
  readonly kind: ScheduleKind;
  readonly value: string;
}

/** Selects what a trigger runs on, and shows the next runs of a schedule. */
export function ScheduleFields(props: {
  readonly schedule: Schedule;
  readonly onChange: (schedule: Schedule) => void;
  /** The error message of the server. */
  readonly mistake: string | undefined;
}) {
  const { schedule, onChange, mistake } = props;
  const { kind, value } = schedule;
  const { label, placeholder, hint } = FIELDS[kind];
  const runs = nextRuns(kind, value, { nowMs: Date.now(), count: SHOWN_RUNS });
  return (
    <>
      <fieldset className="choice">
        <legend className="label">Runs on</legend>
        <div className="row wrap">
          {KINDS.map(([each, text]) => (
            <label key={each} className="row">
              <input
                type="radio"
                checked={kind === each}
                onChange={() => onChange({ kind: each, value: '' })}
              />
              {text}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        key={kind}
        label={label}
        isCode
        value={value}
        onChange={(next) => onChange({ kind, value: next })}
        placeholder={placeholder}
        mistake={mistake ?? (kind === 'cron' ? cronFault(value) : undefined)}
        hint={runs.length === 0 ? hint : `Next runs (UTC): ${runs.map(timeText).join(', ')}`}
      />
    </>
  );
}
